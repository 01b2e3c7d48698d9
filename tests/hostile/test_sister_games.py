"""A player with a memory learns no more than it can learn from a single game.

The games of one deal are played with every rotation of the seats. A player that remembered one of
these games would know hidden information in the others. For every player object, the tests count
the games and seats of each deal that the object sees.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spies
from armarl import play_match
from armarl.arena.play_tournament import play_tournament
from armarl.cli.terminal import play_at_terminal, watch_at_terminal
from armarl.environments.seat_env import SeatEnv
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.make_game import make_game
from armarl.matches.playing import draw_seeds
from armarl.matches.records import read_records
from armarl.players.human import HumanPlayer
from armarl.players.simple_players import RandomPlayer
from armarl.workers import processes, spread
from armarl.workers.jobs import Known, Workers
from armarl_training import make_vec_env
from spies import Spy, Truth
from variants import RICH, Variant, every_rich_game, every_variant

SPY = "spies:Spy"
DEALS = 2


@pytest.fixture(autouse=True)
def _nobody() -> Iterator[None]:
    """Forget the spies of other tests."""
    spies.MADE.clear()
    yield
    spies.MADE.clear()


def match(
    game: Any, players: list[Any], folder: Path, workers: Workers = 1, deals: int = DEALS
) -> Truth:
    path, games = folder / "games.txt", deals * len(set(game.sides))
    play_match(game, players, games, seed=7, workers=workers, records=path)
    return Truth(read_records(path))


def assert_nothing_more(game: Any, truth: Truth, made: list[Spy], tables: int) -> None:
    """Check that each spy saw a table from only one seat, and one game of each deal.

    Kuhn poker has so few cards that its games cannot be told apart. In Kuhn poker, the test
    therefore counts only seats and tables, and every spy must have one of each.
    """
    asked = [spy for spy in made if spy.seats]  # other spies were made only to get their names
    assert len(asked) == tables * game.players
    assert {len(spy.seats) for spy in asked} == {1}
    once, more = truth.count(asked)
    assert more == 0
    assert once >= len(asked) or game.name == "kuhn_poker"


@every_variant
def test_matches_show_a_player_one_game_of_a_deal(variant: Variant, tmp_path: Path) -> None:
    """Regression: a spy saw every deal from all seats, so it knew the opponent's hand and the deck.

    In games of three, two players are listed for three sides, so the last one has two seats.
    """
    game = variant.make()
    truth = match(game, [SPY, SPY], tmp_path)
    assert_nothing_more(game, truth, spies.MADE, len(set(game.sides)))


def tournament(game: Any, players: list[Any], folder: Path, **how: Any) -> tuple[Truth, int]:
    """Return the true games, and the number of tables."""
    played = play_tournament(game, players, DEALS, seed=7, folder=folder / "arena", **how)
    paths = sorted((folder / "arena" / "records").iterdir())
    truth = Truth(record for path in paths for record in read_records(path))
    return truth, sum(len(played.tables(lineup)) for lineup in played.lineups())


@every_variant
def test_tournaments_show_a_player_one_game_of_a_deal(variant: Variant, tmp_path: Path) -> None:
    """There are three players, so each meets its deals in several lineups."""
    game = variant.make()
    truth, tables = tournament(game, [SPY] * 3, tmp_path)
    assert_nothing_more(game, truth, spies.MADE, tables)


@every_rich_game
@pytest.mark.parametrize("how", ["match", "tournament"])
def test_a_player_with_memory_learns_no_more_beside_players_without(
    variant: Variant, how: str, tmp_path: Path
) -> None:
    """Our players may play several tables together, but only without a player that may remember."""
    game = variant.make()
    if how == "match":
        truth = match(game, ["random", SPY], tmp_path)
    else:
        truth, _ = tournament(game, ["random", SPY, "random"], tmp_path)
    once, more = truth.count(spies.MADE)
    assert more == 0
    assert once >= 8 or game.name == "kuhn_poker"
    assert {len(spy.seats) for spy in spies.MADE} <= {0, 1}


def test_teams_of_different_players_show_one_game_of_a_deal(tmp_path: Path) -> None:
    game = make_game("armadora", players=4)
    truth, tables = tournament(game, [SPY] * 4, tmp_path, mixed=True)
    assert_nothing_more(game, truth, spies.MADE, tables)


# --- workers --------------------------------------------------------------------------------------


class Here:
    """A cluster that runs in this process and passes the same objects to all jobs."""

    def results(self, work: Any, jobs: Any) -> Generator[Any, None, None]:
        yield from map(work, jobs)


def assert_nothing_more_at(workers: Workers, variant: Variant, folder: Path) -> None:
    game, seen = variant.make(), folder / "seen"
    seen.mkdir()
    truth = match(game, [f'{SPY},"{seen}"'] * 2, folder, workers)
    assert_nothing_more(game, truth, spies.written(seen, game), len(set(game.sides)))


@every_variant
def test_a_cluster_in_this_process_shows_one_game_of_a_deal(
    variant: Variant, tmp_path: Path
) -> None:
    """Regression: jobs shared the players made for a cluster if nothing copied them."""
    assert_nothing_more_at(Here(), variant, tmp_path)


@pytest.fixture(scope="module")
def one_process() -> Iterator[Any]:
    """Start one worker process that plays all rotations of all variants, as `in_processes` does."""
    prepared = processes._prepare, (Known.here(), 1)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), *prepared) as pool:

        def in_this_one(work: Any, jobs: Any, number: int) -> Iterator[Any]:
            for future in [pool.submit(processes._do, work, job) for job in jobs]:
                yield future.result()

        yield in_this_one


@every_variant
def test_a_worker_process_shows_one_game_of_a_deal(
    variant: Variant, tmp_path: Path, one_process: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process plays all rotations of a deal, one after another."""
    monkeypatch.setattr(spread, "in_processes", one_process)
    assert_nothing_more_at(2, variant, tmp_path)


def test_worker_processes_of_a_match_show_one_game_of_a_deal(tmp_path: Path) -> None:
    """The match starts the processes itself."""
    assert_nothing_more_at(2, RICH[0], tmp_path)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Workers]:
    ray = pytest.importorskip("ray")
    from armarl.workers.ray_cluster import RayCluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        patch.setenv("RAY_worker_niceness", "0")
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
        yield RayCluster()
        ray.shutdown()


@every_variant
def test_ray_shows_one_game_of_a_deal(variant: Variant, tmp_path: Path, cluster: Workers) -> None:
    """A cluster gets one object for each seat. A worker plays several rotations of a deal."""
    assert_nothing_more_at(cluster, variant, tmp_path)


# --- one game with a player for each seat --------------------------------------------------------


@every_variant
def test_environments_make_an_opponent_for_each_seat(variant: Variant) -> None:
    """Regression: one player had all other seats, and saw the hidden information of each."""
    game = variant.make()
    rng = np.random.default_rng(0)
    envs = SeatVectorEnv(game, 4, opponents=SPY, seat=0)
    env = SeatEnv(game, opponents=SPY, seat=0)
    sb3 = make_vec_env(game, 4, opponents=SPY, seed=1, seat=0)
    masks = envs.reset(seed=1)[1]["action_mask"]
    mask = env.reset(seed=1)[1]["action_mask"]
    sb3.reset()
    for _ in range(60):
        sb3.step(np.array([rng.choice(np.flatnonzero(m)) for m in sb3.action_masks()]))
        masks = envs.step(np.array([rng.choice(np.flatnonzero(m)) for m in masks]))[-1][
            "action_mask"
        ]
        # The environment ignores the action that begins the next game.
        masks[~masks.any(axis=1), 0] = 1
        _, _, over, cut, info = env.step(rng.choice(np.flatnonzero(mask)))
        mask = (env.reset()[1] if over or cut else info)["action_mask"]
    assert [spy.seats for spy in spies.MADE] == 3 * [{seat} for seat in range(1, game.players)]


@every_variant
def test_a_learner_that_changes_seats_meets_an_opponent_for_each_seat(variant: Variant) -> None:
    """An opponent then has another seat in each game, but only one seat in a game."""
    game, rng = variant.make(), np.random.default_rng(0)
    env, learner = SeatEnv(game, opponents=SPY), set()
    for seed in range(6):
        for spy in spies.MADE:
            spy.calls.clear()
        info = env.reset(seed=seed)[1]
        learner.add(int(info["seat"]))
        for _ in range(20):
            info, over = step(env, rng, info)
            if over:
                break
        seats = [seat for spy in spies.MADE for seat in spy.seats]
        assert len(set(seats) | {int(info["seat"])}) == len(seats) + 1
        assert {len(spy.seats) for spy in spies.MADE} <= {0, 1}
    assert len(learner) > 1


def step(env: SeatEnv, rng: Any, info: Any) -> tuple[Any, bool]:
    _, _, over, cut, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
    return info, bool(over or cut)


@every_variant
def test_the_terminal_makes_a_player_for_each_seat(
    variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: the last player gets all remaining seats, and was one object for all of them."""
    game = variant.make()
    left = [40]  # the person quits after this number of decisions; each seat has some of them

    def choose(self: HumanPlayer, *asked: Any) -> Any:
        if left[0] < len([call for spy in spies.MADE for call in spy.calls]):
            raise EOFError
        return RandomPlayer(game).choose(*asked)

    monkeypatch.setattr(HumanPlayer, "choose", choose)
    with suppress(EOFError):
        play_at_terminal(game, [SPY], seat=1, seed=3)
    others = [(1 + k) % game.players for k in range(1, game.players)]
    assert [spy.seats for spy in spies.MADE] == [{seat} for seat in others]


@every_variant
def test_the_terminal_makes_a_player_for_each_seat_without_a_person(variant: Variant) -> None:
    short = {"max_turns": 2} if variant.game == "armada" else {}
    game = make_game(variant.game, **{**variant.options, **short})
    watch_at_terminal(game, [SPY], seed=3)
    assert [spy.seats for spy in spies.MADE] == [{seat} for seat in range(game.players)]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Any]:
    """Return the tables of a server that lists a spy."""
    pytest.importorskip("starlette")
    from armarl.web.house import House

    house = House(tmp_path / "games", [SPY])
    yield house
    house.close()


@every_variant
def test_the_browser_makes_a_player_for_each_seat(variant: Variant, house: Any) -> None:
    """If the deal is played again from other seats, the server makes new players."""
    game = variant.make()
    table = house.open_table(game, [SPY] * game.players, 5)
    for _ in range(2):
        for _ in range(60):
            table.let_player_move()
        assert table.trouble is None
        if not table.is_over:
            table.resign(0, table.version)
        table = house.play_again(table, same_deal=True, move_on=True)
    seats = [spy.seats for spy in spies.MADE if spy.seats]
    assert sorted(seats, key=min) == [{k} for k in range(game.players) for _ in range(2)]


@every_variant
def test_the_browser_makes_an_adviser_for_each_seat(variant: Variant, house: Any) -> None:
    """Regression: all people asked one adviser, so it knew hidden information of other seats."""
    from armarl.web.house import Person

    game = variant.make()
    table = house.open_table(game, [Person(str(k), own_key=True) for k in range(game.players)], 5)
    for _ in range(60):
        if (seat := table.to_move) is not None:
            table.act(seat, table.version, table.opinion(seat, SPY)["action"])
    assert sorted(min(spy.seats) for spy in spies.MADE) == list(range(game.players))
    assert {len(spy.seats) for spy in spies.MADE} == {1}


# --- objects that cannot be made again -----------------------------------------------------------


def test_an_object_never_sees_two_games_of_a_deal_together(tmp_path: Path) -> None:
    """The object plays all games. Order and batch positions of games do not reveal their deals."""
    game = make_game("armada", cards=True, max_turns=6)
    spy = Spy(game)
    truth = match(game, [spy, Spy(game)], tmp_path, deals=40)
    place: dict[bytes, list[int]] = {}
    for call in spy.calls:
        sights = truth.sights(*call)
        deals = [truth.deals[sight[0]] for sight in sights if sight]
        assert len(set(deals)) == len(deals)
    for calls in (spy.calls[:1], [call for call in spy.calls if call[0].size == 40][-1:]):
        for states, seats in calls:
            for at, sight in enumerate(truth.sights(states, seats)):
                if sight:
                    place.setdefault(truth.deals[sight[0]], []).append(at)
    same = [first == second for first, second in filter(lambda at: len(at) == 2, place.values())]
    assert sum(same) < 6  # the chance of equal places is 1 in 40


def test_random_numbers_depend_on_the_game_and_its_table() -> None:
    """Regression: the games of a deal had equal random numbers, which showed their common deal."""
    drawn = np.concatenate(
        [draw_seeds(5, 0, 50, table) for table in [(), (0,), (1,), (0, 0), (0, 1), (1, 0)]]
    )
    assert np.unique(drawn).size == drawn.size
