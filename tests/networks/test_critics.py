"""Critics that improve a scripted player: inputs, training, files and errors."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
import torch
from torch.nn import functional

import tiny
from armarl import play_match
from armarl.compiler.randomness import seed_chance, uniform
from armarl.core.verbs import PLAYING
from armarl.environments.seat_loops import LEARNER
from armarl.games.make_game import make_game
from armarl.networks.critic import check_critic, is_critic
from armarl.networks.policy_network import NetworkError
from armarl.policies.critic_lookahead import (
    BREADTH,
    DEALS,
    FIRST_DEALS,
    HOPE,
    WON,
    TurnValues,
    with_players,
)
from armarl.policies.network_players import DOUBT, SHARPNESS, CriticPlayer
from armarl.policies.safetensors_file import PolicyError
from armarl.policies.saved_policy import load_policy, save_policy
from armarl.roster.make_player import make_player
from armarl.search import CriticSearchPlayer
from armarl_training.config.training_config import ConfigError, TrainingConfig, load_config
from armarl_training.learners.critic.critic_games import COMPLETIONS, _of_each, _own_seats
from armarl_training.learners.critic.critic_learner import CriticLearner
from armarl_training.learning.imitation import play_imitation_games
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.saving import AVERAGE, saved_networks
from armarl_training.networks.torch_players import on_torch
from armarl_training.networks.value_networks import Critic

VARIANTS = [
    ("armada", {"players": 2}),
    ("armada", {"players": 3, "cards": True}),
    ("armadora", {"players": 4, "advanced": True}),
]
ADVISERS = {
    "armada": ["greedy:style=admiral", "greedy"],
    "armadora": ["greedy:style=settler", "greedy", "greedy:style=bold"],
}


def critic_of(game, seed=0, widths=(12, 6)):
    """Return a critic with random weights, so large that its choices differ."""
    torch.manual_seed(seed)
    critic = Critic(game, widths)
    for weights in critic.parameters():
        torch.nn.init.normal_(weights, 0, 0.6)
    return critic.tensors()


def player_of(game, **options):
    return CriticPlayer(game, critic_of(game), advisers=ADVISERS[game.name], **options)


def turns_of(player):
    styles = [adviser.style for adviser in player.advice.players]
    return TurnValues(player.game, player.tensors, styles, player.deals, player.turns)


@pytest.fixture(params=VARIANTS, ids=str)
def game(request):
    name, options = request.param
    return make_game(name, **options)


def test_the_seat_to_move_has_the_turn_in_armadora():
    game = make_game("armadora", players=3, advanced=True)
    states, seats = tiny.positions(game, 20)
    assert np.array_equal(game.turns_of(states), seats)
    with pytest.raises((TypeError, ValueError)):
        game.turns_of(seats)


# --- gains of actions ----------------------------------------------------------------------------


def turn_result(game, state, seat, action, number, deal, player):
    """Return the result of an action in a deal, computed step by step with the public API."""
    number, advisers = number + deal, player.advice.players
    own, others = advisers[0], advisers[deal % len(advisers)]
    dealt = game.determinised(state, seat, np.array([number]))
    chance = np.zeros(1, np.uint64)
    seed_chance(chance, 0, number)
    one = np.zeros(1, np.int64)
    game.apply(dealt, one, np.array([action]))
    owner, turns = game.turns_of(state)[0], game.players
    while True:
        statuses, mover = game.statuses(dealt)
        if statuses[0] != PLAYING:
            return game.returns(dealt, one)[0, seat[0]]
        before, owner = owner, game.turns_of(dealt)[0]
        turns -= int(owner != before)
        if turns == 0:
            return player.values(dealt, seat)[0]
        draws = np.array([uniform(chance, 0)])
        scripted = own if mover == seat else others
        game.apply(dealt, one, scripted.choose(game.concealed(dealt, mover), mover, draws))


def stay(gains, on):
    """Return which of the actions in `on` are kept, given all gains so far, (actions, deals)."""
    sums, deals = gains.sum(axis=1), gains.shape[1]
    better = ((sums[None] > sums[:, None]) & on).sum(axis=1)
    return on & (better < max(BREADTH * DEALS // deals, 1)) & (sums > HOPE * deals)


@pytest.mark.parametrize("widths", [(12, 6), ()], ids=str)
def test_gains_are_equal_to_a_plain_computation(game, widths):
    """The first deals measure every legal action. Later deals measure only the most promising."""
    states, seats = tiny.positions(game, 8)
    tensors, advisers = critic_of(game, widths=widths), ADVISERS[game.name]
    player = CriticPlayer(game, tensors, advisers=advisers)
    states = game.concealed(states, seats)
    before = states.tobytes()
    found = turns_of(player).gains(states, seats)
    assert states.tobytes() == before
    masks = game.legal_masks(states)
    assert np.array_equal(found.decisions, np.nonzero(masks)[0])
    assert np.array_equal(found.actions, np.nonzero(masks)[1])
    for i in range(states.size):
        state, seat = game.taken(states, np.array([i])), seats[i : i + 1]
        number = zlib.crc32(state.tobytes())
        chance = np.zeros(1, np.uint64)
        seed_chance(chance, 0, number)
        draws = np.array([uniform(chance, 0)])
        scripted = player.advice.players[0].choose(state, seat, draws)[0]
        assert found.actions[found.scripted[i]] == scripted
        mine = np.flatnonzero(found.decisions == i)
        if mine.size == 1:
            continue
        gains, on = np.full((mine.size, DEALS), np.nan), np.ones(mine.size, bool)
        others = mine != found.scripted[i]
        for deal in range(DEALS):
            if deal >= with_players(game.players, FIRST_DEALS):
                on[others] = stay(gains[others, :deal], on[others])
            gains[on, deal] = [
                turn_result(game, state, seat, action, number, deal, player)
                for action in found.actions[mine[on]]
            ]
            gains[:, deal] -= gains[~others, deal]
        won = player.values(state, seat)[0] > with_players(game.players, WON)
        np.testing.assert_array_equal(
            np.isfinite(found.gains[mine][others]),
            on[others] & ~won,
        )
        tried = np.isfinite(found.gains[mine])
        means, errors = gains.mean(axis=1), gains.std(axis=1) / np.sqrt(DEALS)
        np.testing.assert_allclose(found.gains[mine][tried], means[tried], atol=1e-5)
        np.testing.assert_allclose(found.errors[mine][tried], errors[tried], atol=1e-4)


@pytest.mark.parametrize(("players", "gain"), [(2, 0.1), (3, 0.05), (4, 0.1 / 3)])
def test_the_least_gain_is_relative_to_a_fair_chance_to_win(players, gain):
    assert player_of(make_game("armada", players=players)).least_gain == pytest.approx(gain)


def test_the_scripted_choice_is_kept_unless_another_is_surely_better(game, monkeypatch):
    states, seats = tiny.positions(game, 60)
    states, player = game.concealed(states, seats), player_of(game)
    values = player.values(states, seats)
    monkeypatch.setattr("armarl.policies.critic_lookahead.WON", (np.quantile(values, 0.7),) * 2)
    found = turns_of(player).gains(states, seats)
    sure = found.gains - DOUBT * found.errors - player.least_gain
    won = values > np.quantile(values, 0.7)
    sure[found.scripted] = 0
    best = [
        found.actions[mine][sure[mine].argmax()]
        for mine in (np.flatnonzero(found.decisions == i) for i in range(states.size))
    ]
    chosen = player.choose(states, seats, np.zeros(states.size))
    np.testing.assert_array_equal(chosen, best)
    astray = chosen != found.actions[found.scripted]
    assert astray.any()
    assert not astray[won].any()
    logits = player.logits(states, seats)
    assert (np.isneginf(logits) == (game.legal_masks(states) == 0)).all()
    np.testing.assert_allclose(
        logits[found.decisions, found.actions],
        SHARPNESS * np.maximum(sure, -10.0),
        rtol=1e-5,
        atol=1e-4,
    )


def test_gains_do_not_depend_on_the_batch_or_on_hidden_information(game):
    states, seats = tiny.positions(game, 30)
    player = player_of(game)
    together = player.logits(states, seats)
    for i in range(0, states.size, 7):
        alone = player.logits(states[i : i + 1], seats[i : i + 1])
        np.testing.assert_array_equal(alone[0], together[i])
    np.testing.assert_array_equal(player.logits(game.concealed(states, seats), seats), together)
    dealt = game.determinised(states, seats, np.arange(states.size))
    np.testing.assert_array_equal(player.logits(dealt, seats), together)


def test_compiled_code_and_numpy_and_torch_give_the_same_values(game):
    states, seats = tiny.positions(game, 30)
    player, critic = player_of(game), Critic(game, (12, 6))
    critic.take_over(player.tensors)
    check_critic(game, player.tensors, "relu", 1)
    assert is_critic(player.tensors)
    with torch.no_grad():
        wanted = torch.tanh(critic(torch.from_numpy(game.views(states, seats)[0])) / 2).numpy()
    np.testing.assert_allclose(player.values(states, seats), wanted, atol=1e-4)
    assert np.ptp(wanted) > 0.01


def test_seats_and_states_out_of_range_are_refused():
    """Compiled loops would read out of bounds."""
    game = make_game("armada", players=2)
    states, seats = tiny.positions(game, 5)
    player = player_of(game)
    for ask in (player.logits, player.values):
        with pytest.raises(ValueError, match="seats"):
            ask(states, seats + 2)
        with pytest.raises(ValueError, match=r"another variant|3 players"):
            ask(make_game("armada", players=3).new_states(np.arange(states.size)), seats)


def test_a_critic_can_play_whole_games():
    game = make_game("armadora", players=2)
    assert play_match(game, [player_of(game), "random"], 4, 0, 1).games == 4


def test_search_around_a_critic_takes_more_time():
    """`+search` searches with a critic over more deals and more turns."""
    game = make_game("armadora", players=2)
    states, seats = tiny.positions(game, 10)
    around = CriticSearchPlayer(game, player_of(game), 60, rounds=3)
    assert (around.player.deals, around.player.turns) == (15, 6)
    chosen = around.choose(game.concealed(states, seats), seats, np.zeros(states.size))
    assert game.legal_masks(states)[np.arange(states.size), chosen].all()
    thoughts = around.think(game.concealed(states, seats), seats, np.zeros(states.size))
    np.testing.assert_allclose(thoughts.probabilities.sum(axis=1), 1)
    with pytest.raises(ValueError, match="needs a critic"):
        CriticSearchPlayer(game, make_player("greedy", game))
    with pytest.raises(ValueError, match="simulations must be from 1 to"):
        CriticSearchPlayer(game, player_of(game), 0)
    with pytest.raises(TypeError, match=r"rounds must be an integer, not 1\.5"):
        CriticSearchPlayer(game, player_of(game), 60, rounds=1.5)


# --- files ---------------------------------------------------------------------------------------


def test_a_saved_critic_plays_the_same(tmp_path, game):
    states, seats = tiny.positions(game, 12)
    player = player_of(game)
    save_policy(tmp_path / "p.safetensors", game, player.tensors, "relu", player.advice.advisers)
    loaded = load_policy(tmp_path / "p.safetensors")
    assert type(loaded) is CriticPlayer
    wanted = player.logits(states, seats)
    np.testing.assert_array_equal(loaded.logits(states, seats), wanted)
    again = on_torch(loaded, name="again", sample=False)
    np.testing.assert_array_equal(again.logits(states, seats), wanted)


@pytest.mark.parametrize(
    ("changes", "activation", "advisers", "message"),
    [
        ({}, "relu", [], "at least 1 adviser"),
        ({}, "tanh", ["greedy"], "a critic uses relu"),
        ({"value.0.weight": (2, 6), "value.0.bias": (2,)}, "relu", ["greedy"], "2 outputs"),
        ({"trunk.0.weight": (12, 7)}, "relu", ["greedy"], "trunk"),
        (
            {"other.0.weight": (1, 1), "other.0.bias": (1,)},
            "relu",
            ["greedy"],
            "any of the parts trunk",
        ),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_together_are_refused(
    tmp_path, changes, activation, advisers, message
):
    game = make_game("armada", players=2)
    tensors = critic_of(game)
    tensors |= {name: np.zeros(shape, np.float32) for name, shape in changes.items()}
    with pytest.raises(PolicyError, match=message):
        save_policy(tmp_path / "p.safetensors", game, tensors, activation, advisers)


def test_huge_weights_still_choose_legal_actions():
    game = make_game("armada", players=2)
    states, seats = tiny.positions(game, 5)
    tensors = {name: tensor * np.float32(1e30) for name, tensor in critic_of(game).items()}
    player = CriticPlayer(game, tensors, advisers=["greedy"])
    chosen = player.choose(game.concealed(states, seats), seats, np.zeros(states.size))
    assert game.legal_masks(states)[np.arange(states.size), chosen].all()


def test_only_scripted_players_can_advise():
    game = make_game("armada", players=2)
    with pytest.raises(ValueError, match="an adviser must be the scripted player"):
        CriticPlayer(game, critic_of(game), advisers=["greedy", "random"])


def test_a_critic_of_other_networks_is_refused():
    game = make_game("armada", players=2)
    with pytest.raises(NetworkError, match="trunk"):
        check_critic(game, critic_of(make_game("armada", players=3, cards=True)), "relu", 1)


# --- learning ------------------------------------------------------------------------------------


def learner(tmp_path, **changes):
    settings = {"learner": "critic", "opponents": {"share": 0.5, "earlier": 0}, **changes}
    config = TrainingConfig(**tiny.settings(**settings))
    game = make_game(config.game, **config.options)
    return CriticLearner(config, game, OpponentPool(game, config.opponents, tmp_path))


def played(critic, done=0.0):
    """Play many games of the learner's first shard."""
    return critic.shards.parts[0].play(saved_networks({AVERAGE: critic.average}), done)


@pytest.mark.parametrize("options", [{"players": 2}, {"players": 4}], ids=str)
def test_samples_contain_the_returns_of_the_observing_seats(tmp_path, options):
    critic = learner(tmp_path, options=options, environments=48)
    samples = played(critic)
    assert len(samples.seen) == samples.returns.size > 48 * 10
    assert set(np.unique(samples.returns)) <= {-1.0, 0.0, 1.0}
    assert samples.decisions > 48 * 5
    again = played(learner(tmp_path, options=options, environments=48))
    np.testing.assert_array_equal(again.seen, samples.seen)
    other = played(critic)
    assert other.seen.shape != samples.seen.shape or (other.seen != samples.seen).any()


def test_scripted_games_start_from_positions_of_the_improved_player(tmp_path):
    """The scripted games start at ends of turns, and the ends of their later turns are samples."""
    settings = {"improved_games": 3, "improved_from": 0.5}
    changes = {
        "critic": settings,
        "network": {"widths": [16], "advisers": ["greedy", "greedy:style=settler"]},
        "opponents": {"share": 1, "earlier": 0, "players": {"random": 1}},
    }
    critic = learner(tmp_path, options={"players": 4}, environments=4, **changes)
    critic.begin_with(
        CriticPlayer(critic._game, critic_of(critic._game, widths=(16,)), advisers=["greedy"])
    )
    games, networks = critic.shards.parts[0], saved_networks({AVERAGE: critic.average})
    begun, observers, decisions = games._branches(networks, 0.5, np.random.default_rng(0))
    states = begun.states
    assert decisions > 10
    assert states.size == observers.size == len(begun.lineups) > 3 * 10 * COMPLETIONS
    assert not critic._game.statuses(states)[0].any()
    critic._game.check_states(states)
    same = states.reshape(-1, COMPLETIONS)
    assert len(np.unique(same[0])) == COMPLETIONS
    assert (np.ptp(observers.reshape(-1, COMPLETIONS), axis=1) == 0).all()
    mine = begun.lineups == LEARNER
    # Partners sit opposite each other.
    assert (mine == (np.arange(4) % 2 == observers[:, None] % 2)).all()
    theirs = begun.lineups[~mine].reshape(-1, 2)
    assert (theirs == 1 + np.arange(len(theirs))[:, None] % 2).all()  # slot 0 is the pool's player
    assert len(played(critic, 0.5).seen) > len(played(critic, 0.4).seen) + states.size // 2


def test_only_seats_of_the_learner_observe():
    lineups = np.tile([[LEARNER, 2, LEARNER, 0], [1, 0, 0, LEARNER]], (50, 1))
    seats = _own_seats(lineups, np.random.default_rng(0))
    assert (set(seats[0::2]), set(seats[1::2])) == ({0, 2}, {3})


def test_long_games_give_no_more_samples_than_the_limit():
    games = np.repeat([3, 0, 7, 3], [40, 5, 100, 60])
    order = np.random.default_rng(1).permutation(games.size)
    kept = _of_each(games[order], 30, np.random.default_rng(0))
    assert (np.diff(kept) > 0).all()
    assert dict(zip(*np.unique(games[order][kept], return_counts=True), strict=True)) == {
        0: 5,
        3: 30,
        7: 30,
    }
    other = _of_each(games[order], 30, np.random.default_rng(5))
    assert set(kept) != set(other)


def test_an_update_reduces_the_loss(tmp_path):
    critic = learner(tmp_path, environments=512, critic={"minibatch": 256})
    unseen = played(learner(tmp_path, environments=512, seed=6))

    def loss():
        """Return the loss on games that were not used for learning."""
        with torch.no_grad():
            logits = critic.critic(critic._scaled(unseen.seen))
        return functional.binary_cross_entropy_with_logits(
            logits, torch.from_numpy((unseen.returns + 1) / 2)
        ).item()

    before = loss()
    reported = [critic.iterate(0.0) for _ in range(3)]
    assert loss() < 0.97 * before
    assert all(0 < row["value_loss"] < 1 and row["gradient_norm"] > 0 for row in reported)
    player = critic.policy(average=True)
    assert type(player) is CriticPlayer
    assert player.advice.advisers == ("greedy",)


def test_a_head_start_learns_the_outcomes_of_a_teacher_s_games(tmp_path):
    critic = learner(tmp_path, critic={"minibatch": 64})
    data = play_imitation_games(
        critic._game, make_player("greedy", critic._game), 64, 0.1, "win", np.random.default_rng(0)
    )
    guessed = [critic.imitate(data, 3e-3) for _ in range(4)]
    assert guessed[-1] > max(guessed[0], 0.6)


@pytest.mark.parametrize(
    "settings",
    [
        ["network.advisers=[]"],
        ["network.advisers=[greedy]", "network.activation=tanh"],
    ],
    ids=str,
)
def test_a_critic_needs_a_scripted_player(settings):
    with pytest.raises(
        ConfigError, match=r"learner: critic needs network\.activation: relu, and scripted"
    ):
        load_config("armadora-quick", ["learner=critic", *settings])


def test_a_critic_learns_who_wins():
    settings = ["learner=critic", "network.advisers=[greedy]", "network.activation=relu"]
    with pytest.raises(ConfigError, match="needs reward: win"):
        load_config("armadora-quick", [*settings, "reward=gold"])


def test_a_damaged_number_of_lots_is_refused(tmp_path):
    games = learner(tmp_path).shards.parts[0]
    arrays, values = games.save()
    with pytest.raises(ValueError, match="lots"):
        games.restore({"lots": np.array(-1)}, values)
    games.restore(arrays, values)
