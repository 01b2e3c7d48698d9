"""Matches and players are reproducible, fair, and correctly counted."""

import math

import numpy as np
import pytest

import tiny
from armarl.common.numbers import MOST_SEED
from armarl.core.errors import IllegalActionError
from armarl.games.make_game import make_game
from armarl.matches.match import play_match, seatings
from armarl.matches.playing import deal_seeds, play_games
from armarl.matches.records import read_records
from armarl.matches.standings import _interval, _standings
from armarl.players.human import HumanPlayer
from armarl.players.protocol import Player
from armarl.players.simple_players import GreedyPlayer, RandomPlayer
from armarl.policies.safetensors_file import PolicyError
from armarl.roster.make_player import make_player

TWO, THREE, FOUR = (make_game("armadora", players=players) for players in (2, 3, 4))
ADVANCED = make_game("armadora", advanced=True)


def by_name(value):
    """Return the name of a parameter for pytest. For a game, this is the name of its variant."""
    if not hasattr(value, "variant"):
        return str(value)
    return f"{value.players}p-{'advanced' if value.options['advanced'] else 'base'}"


class Passing:
    """A player that passes whenever it may, and stores the states that it sees."""

    def __init__(self, game, name="passing"):
        self.name, self.game, self.seats = name, game, []

    def choose(self, states, seats, draws):
        assert states.size == seats.size == draws.size
        assert np.array_equal(self.game.statuses(states)[1], seats)
        assert np.array_equal(self.game.concealed(states, seats), states)
        self.seats += seats.tolist()
        return np.full(states.size, self.game.actions.id("pass"))


# --- reproducible --------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [TWO, THREE, FOUR, ADVANCED], ids=by_name)
def test_a_seed_makes_a_match_reproducible(game):
    first, again, other = (
        play_match(game, ["greedy", "random"], 24, seed).as_dict() for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert first["seed"] == 1
    assert first["variant"] == game.variant


def test_the_number_of_workers_changes_no_result(tmp_path):
    players = [tiny.policy(tmp_path, TWO), "random"]
    calls = []
    one = play_match(TWO, players, games=300, seed=5)
    two = play_match(TWO, players, 300, 5, workers=2, progress=lambda *done: calls.append(done))
    assert one == two
    assert calls == [(128, 300), (256, 300), (300, 300)]


def test_a_game_depends_only_on_its_own_seed():
    """A game does not depend on the number of games in the match."""
    players = [GreedyPlayer(TWO), RandomPlayer(TWO)]
    deals, draws = np.arange(20), np.arange(20, 40)
    returns, lengths, _ = play_games(TWO, players, deals, draws)
    for i in range(0, 20, 7):
        alone = play_games(TWO, players, deals[i : i + 1], draws[i : i + 1])
        assert np.array_equal(alone[0], returns[i : i + 1])
        assert np.array_equal(alone[1], lengths[i : i + 1])


def test_a_longer_match_begins_with_the_shorter_one(tmp_path):
    kept = []
    for number, games in enumerate((6, 40)):
        path = tmp_path / f"{number}.txt"
        play_match(TWO, ["greedy", "random"], games=games, seed=3, records=path)
        kept.append([record.lines for record in read_records(path)])
    short, long = kept
    assert len(short) == 6
    assert long[:6] == short
    assert len(set(long)) == 40


def test_all_deals_are_different():
    """Regression: a seed of more than 32 bits gave the deals of a smaller one."""
    seeds = [0, 5, 5 + (3 << 32), (1 << 32) + 1, MOST_SEED]
    deals = np.stack([deal_seeds(seed, 0, 200) for seed in seeds])
    assert np.unique(deals).size == deals.size


# --- fair ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "entrants", "tables"),
    [
        (TWO, 2, [[0, 1], [1, 0]]),
        (THREE, 3, [[0, 1, 2], [1, 2, 0], [2, 0, 1]]),
        (THREE, 2, [[0, 1, 1], [1, 1, 0], [1, 0, 1]]),
        (FOUR, 2, [[0, 1, 0, 1], [1, 0, 1, 0]]),
    ],
    ids=by_name,
)
def test_seatings_are_balanced(game, entrants, tables):
    """Every player has every side equally often, and partners' seats have the same player."""
    assert seatings(entrants, game) == tables
    for seat in range(game.players):
        first = sum(table[seat] == 0 for table in tables)
        assert first == 1
    for table in tables:
        assert len({(side, who) for side, who in zip(game.sides, table, strict=True)}) == len(
            set(game.sides)
        )


@pytest.mark.parametrize("game", [TWO, THREE, FOUR], ids=by_name)
def test_each_deal_is_played_in_every_rotation(game):
    """In each deal, the games of a player that always passes are the same in all its seats."""
    sides = len(set(game.sides))
    watched = Passing(game)
    result = play_match(game, [watched, *[Passing(game) for _ in range(sides - 1)]], games=30)
    assert result.deals == 30 // sides
    assert result.games == 30
    seats, counts = np.unique(watched.seats, return_counts=True)
    assert seats.tolist() == list(range(game.players))
    assert set(counts.tolist()) == {result.deals}
    assert result.mean_actions == game.players


def test_the_number_of_games_is_rounded_up_to_whole_rotations():
    assert play_match(THREE, ["random"] * 3, games=1).games == 3
    assert play_match(TWO, ["random"] * 2, games=5).games == 6


def test_equal_players_are_about_even():
    """The first move may be an advantage or a disadvantage. Rotation of the seats removes it."""
    result = play_match(TWO, ["random", "random"], games=2000, seed=11)
    for standing in result.standings:
        assert standing.low < 0.5 < standing.high
        assert abs(standing.win_rate - 0.5) < 0.05


def test_an_advantage_of_a_seat_does_not_show():
    """Here the first seat wins every game, but in a match both players win equally often."""

    class FirstSeatWins(RandomPlayer):
        def choose(self, states, seats, draws):
            chosen = super().choose(states, seats, draws)
            return np.where(seats == 0, chosen, TWO.actions.id("pass"))

    players = [FirstSeatWins(TWO), FirstSeatWins(TWO)]
    returns, _, _ = play_games(TWO, players, np.arange(50), np.arange(50))
    assert (returns[:, 0] > returns[:, 1]).mean() > 0.9
    one, other = play_match(TWO, players, games=100).standings
    assert one.win_rate == pytest.approx(0.5, abs=0.05)
    assert one.wins == other.losses
    # The first seat wins both games of a deal, so each player wins one of them.
    assert one.win_rate + other.win_rate == pytest.approx(1)


def test_the_better_player_wins():
    greedy, other = play_match(TWO, ["greedy", "random"], games=100).standings
    assert greedy.player == "greedy"
    assert greedy.low > 0.6
    assert other.high < 0.4


# --- counted -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "players"),
    [
        (TWO, ["greedy", "random"]),
        (THREE, ["greedy", "random", "random"]),
        (THREE, ["greedy", "random"]),
        (FOUR, ["greedy", "random"]),
        (ADVANCED, ["random", "greedy"]),
    ],
    ids=by_name,
)
def test_standings_add_up(game, players):
    result = play_match(game, players, games=60, seed=2)
    sides = len(set(game.sides))
    assert [standing.player for standing in result.standings] == players
    for standing in result.standings:
        assert standing.games == result.games
        assert standing.wins + standing.shared + standing.losses == standing.games
        assert 0 <= standing.low <= standing.win_rate <= standing.high <= 1
        assert standing.wins <= standing.win_rate * standing.games + 1e-9
        assert -1 <= standing.reward <= 1
        if standing.fair == pytest.approx(1 / sides):  # the player had one side
            expected = (standing.reward * (sides - 1) + 1) / sides
            assert standing.win_rate == pytest.approx(expected)
    assert sum(standing.win_rate for standing in result.standings) == pytest.approx(1)
    assert sum(standing.fair for standing in result.standings) == pytest.approx(1)
    assert result.standings[0].fair == pytest.approx(1 / sides)


@pytest.mark.parametrize(
    ("game", "share"), [(TWO, 1 / 2), (THREE, 1 / 3), (FOUR, 1 / 2)], ids=by_name
)
def test_draws_are_shared(game, share):
    """If all players pass immediately, nobody takes gold, and all share the victory (ARM-20)."""
    result = play_match(game, [Passing(game)] * len(set(game.sides)), games=12)
    for standing in result.standings:
        assert (standing.wins, standing.shared, standing.losses) == (0, result.games, 0)
        assert standing.win_rate == pytest.approx(share)
        assert standing.reward == pytest.approx(0)


def test_a_player_on_several_sides_gets_the_shares_of_all():
    """In a game of three between A, B and B, player B has two thirds of the table."""
    result = play_match(THREE, [Passing(THREE), "random"], games=60)
    passing, rest = result.standings
    assert (passing.wins, passing.losses) == (0, 60)
    assert (rest.wins, rest.losses, rest.win_rate) == (60, 0, pytest.approx(1))
    assert rest.fair == pytest.approx(2 / 3)
    assert passing.reward == pytest.approx(-1 / 2)  # each side stakes a half
    assert rest.reward == pytest.approx(1 / 4)  # 1 for the winner, -1/2 for the other


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    # Wilson's interval by its textbook formula. Each of its tables includes 0 of 10 and 50 of 100.
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
        (1, 2, 0.0945, 0.9055),
    ],
)
def test_wilson_s_interval_has_the_textbook_values(wins, games, low, high):
    # With only one deal, the correlation between the results of its games is unknown.
    share = np.zeros((1, games))
    share[0, :wins] = 1
    assert _interval(share) == pytest.approx((low, high), abs=1e-4)


def test_equal_results_within_deals_widen_the_interval():
    """If both games of a deal have the same result, ten deals count as ten games."""
    share = np.zeros((10, 2))
    share[:5] = 1
    alone = np.zeros((10, 1))
    alone[:5] = 1
    low, high = _interval(share)
    assert low <= _interval(alone)[0] + 0.02
    assert high >= _interval(alone)[1] - 0.02
    # If one game of each deal is won, the interval is not narrower than that of 20 separate games.
    apart = np.tile([0.0, 1.0], (10, 1))
    assert _interval(apart) == pytest.approx(_interval(apart.reshape(1, 20)))


def test_intervals_contain_the_true_rate_as_often_as_promised():
    """In simulated matches, 95 % of the intervals contain the true rate."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        low, high = _interval((rng.random((100, 2)) < 0.8).astype(float))
        held += low <= 0.8 <= high
    assert 0.92 <= held / 400 <= 0.99


def test_shares_are_counted_as_won_shared_and_lost():
    shares = np.array([[[1, 0]], [[0.5, 0.5]], [[0, 1]], [[1, 0]]], float)
    rewards = 2 * shares - 1
    one, other = _standings(["one", "other"], shares, rewards, [[0, 1]])
    assert (one.wins, one.shared, one.losses, one.win_rate) == (2, 1, 1, 0.625)
    assert (other.wins, other.shared, other.losses, other.win_rate) == (1, 1, 2, 0.375)
    assert math.isclose(one.reward, 0.25)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "number"), [(TWO, 0), (TWO, 1), (TWO, 3), (THREE, 4), (FOUR, 4)], ids=by_name
)
def test_a_wrong_number_of_players_is_refused(game, number):
    with pytest.raises(ValueError, match=f"takes 2 (to 3 )?entrants, not {number}"):
        play_match(game, ["random"] * number)


def test_four_players_for_a_game_of_teams_are_refused():
    said = "not 4: there are 2 teams, and an entrant has all seats of its team"
    with pytest.raises(ValueError, match=said):
        play_match(FOUR, ["random"] * 4)


def test_a_match_can_name_its_game():
    named = play_match("armadora", ["greedy", "random"], games=4, seed=1)
    assert named == play_match(TWO, ["greedy", "random"], games=4, seed=1)
    with pytest.raises(ValueError, match="unknown game 'chess'"):
        play_match("chess", ["greedy", "random"])
    with pytest.raises(TypeError, match=r"the name of a game or a Game, as make_game .*, not \{"):
        play_match({"game": "armadora"}, ["greedy", "random"])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"games": 0}, "games must be from 1 to 100000000, not 0"),
        ({"games": -1}, "games must be from 1 to"),
        ({"games": 10**23}, "games must be from 1 to"),
        ({"seed": -1}, "seed must be from 0 to"),
        ({"workers": 0}, "workers must be at least 1, not 0"),
    ],
    ids=str,
)
def test_numbers_out_of_range_are_refused(numbers, message):
    with pytest.raises(ValueError, match=message):
        play_match(TWO, ["random", "random"], **numbers)


@pytest.mark.parametrize("wrong", [{"games": 2.0}, {"seed": 1.5}, {"workers": "2"}], ids=str)
def test_values_that_are_not_integers_are_refused(wrong):
    with pytest.raises(TypeError, match=f"{next(iter(wrong))} "):
        play_match(TWO, ["random", "random"], **wrong)


def test_players_can_be_given_by_name_and_by_path(tmp_path):
    path = tiny.policy(tmp_path, TWO, name="mine.safetensors")
    for spec, kind in [("random", RandomPlayer), ("greedy", GreedyPlayer), ("human", HumanPlayer)]:
        player = make_player(spec, TWO)
        assert isinstance(player, kind)
        assert isinstance(player, Player)
        assert player.name == spec
    assert make_player(path, TWO).name == make_player(str(path), TWO).name == "mine"
    assert make_player(player, TWO) is player
    with pytest.raises(
        ValueError, match=r"unknown player 'gredy' \(did you mean greedy\?\); choose from random"
    ):
        make_player("gredy", TWO)
    with pytest.raises(PolicyError, match="players"):
        make_player(path, THREE)
    with pytest.raises(PolicyError, match="players"):
        play_match(THREE, [path, "random"], games=3)


# --- a person ------------------------------------------------------------------------------------


def test_a_person_is_asked_until_an_action_is_legal(monkeypatch, capsys):
    states = TWO.new_states(0)
    typed = iter(["?", "nonsense", "W1 d1", "stop", "", "  W5 a1 "])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(typed))
    action = HumanPlayer(TWO).choose(TWO.concealed(states, np.zeros(1, int)), np.zeros(1, int), [0])
    assert action.tolist() == [TWO.actions.id("W5 a1")]
    assert not list(typed)
    shown = capsys.readouterr().out
    legal = TWO.actions.legal_texts(TWO.legal_masks(states)[0])
    assert shown.count("W5 h5\nP a1-b1") == 2  # listed by kind, also after empty input
    assert all(text in shown for text in legal)
    assert "unknown action 'nonsense'; actions look like" in shown
    assert "unknown action 'W1 d1'" in shown  # d1 is a mine
    assert "`stop` is illegal" in shown
    assert TWO.draw(states[0], 0) in shown


@pytest.mark.parametrize("player", [RandomPlayer, GreedyPlayer])
@pytest.mark.parametrize("game", [TWO, THREE, FOUR, ADVANCED], ids=by_name)
def test_scripted_players_play_legal_actions_at_every_draw(player, game):
    states, seats = tiny.positions(game, 30)
    masks = game.legal_masks(states)
    seen = game.concealed(states, seats)
    for draw in (0.0, 0.5, np.nextafter(1, 0)):
        actions = player(game).choose(seen.copy(), seats, np.full(states.size, draw))
        assert masks[np.arange(states.size), actions].all()


def test_the_random_player_is_uniform():
    states = TWO.new_states(0)
    legal = np.flatnonzero(TWO.legal_masks(states)[0])
    draws = (np.arange(10 * legal.size) + 0.5) / (10 * legal.size)
    many = np.repeat(states, draws.size)
    actions = RandomPlayer(TWO).choose(many, np.zeros(draws.size, int), draws)
    found, counts = np.unique(actions, return_counts=True)
    assert np.array_equal(found, legal)
    assert set(counts) == {10}


def test_nobody_wins_a_game_that_is_cut_short():
    game = make_game("armada", max_turns=1)
    result = play_match(game, ["random", "random"], games=4, seed=1)
    for standing in result.standings:
        assert (standing.cut_short, standing.wins, standing.losses) == (4, 0, 0)
        assert (standing.win_rate, standing.reward) == (0, 0)


def test_a_player_with_an_illegal_action_is_named():
    class Cheat:
        name = "cheat"

        def choose(self, states, seats, draws):
            return np.full(states.size, TWO.actions.id("stop"))

    with pytest.raises(IllegalActionError, match=r"'cheat' of seat 0: `stop` is illegal"):
        play_match(TWO, [Cheat(), "random"], games=2)
