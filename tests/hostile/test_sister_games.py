"""A player with a memory learns no more than from one game alone.

The tests count, for every player that was made, the games and seats of each deal that it saw.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spies
from armarl import play_match
from armarl.arena.tournament import play_tournament
from armarl.cli.terminal import watch_at_terminal
from armarl.environments.seat_env import SeatEnv
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.make_game import make_game
from armarl.matches.playing import draw_seeds
from armarl.matches.records import read_records
from armarl.workers.jobs import Workers
from armarl_training import make_vec_env
from spies import Spy, Truth
from variants import Variant, every_rich_game, every_variant

SPY = "spies:Spy"


@pytest.fixture(autouse=True)
def _nobody() -> Iterator[None]:
    """Forget the spies of other tests."""
    spies.MADE.clear()
    yield
    spies.MADE.clear()


def match(game: Any, players: list[Any], folder: Path, games: int, workers: Workers = 1) -> Truth:
    path = folder / "games.txt"
    play_match(game, players, games, seed=7, workers=workers, records=path)
    return Truth(read_records(path))


def tournament(game: Any, players: list[Any], folder: Path, **how: Any) -> Truth:
    play_tournament(game, players, 4, seed=7, folder=folder / "arena", **how)
    paths = sorted((folder / "arena" / "records").iterdir())
    return Truth(record for path in paths for record in read_records(path))


def assert_nothing_more(game: Any, truth: Truth, made: list[Spy], least: int) -> None:
    """Count what each spy saw of a deal: one game from one seat, in at least so many deals.

    Kuhn poker has so few cards that games cannot be told apart. There it counts seats alone.
    """
    once, more = truth.count(made)
    assert more == 0
    assert once >= least or game.name == "kuhn_poker"
    assert {len(spy.seats) for spy in made} <= {0, 1}  # 0: made for its name
    assert sum(len(spy.seats) for spy in made) >= game.players


@every_variant
def test_in_matches(variant: Variant, tmp_path: Path) -> None:
    """Regression: a spy saw every deal from all seats, so it knew the rival's hand and the deck.

    There are fewer entrants than sides in games for three, so the last one holds two seats.
    """
    game = variant.make()
    truth = match(game, [SPY, SPY], tmp_path, 4 * len(set(game.sides)))
    assert_nothing_more(game, truth, spies.MADE, 4 * game.players)


@every_variant
def test_in_tournaments(variant: Variant, tmp_path: Path) -> None:
    """Three entrants, so that each meets its deals in several lineups too."""
    game = variant.make()
    assert_nothing_more(game, tournament(game, [SPY] * 3, tmp_path), spies.MADE, 8 * game.players)


@every_rich_game
@pytest.mark.parametrize("how", ["match", "tournament"])
def test_beside_players_that_keep_no_memory(variant: Variant, how: str, tmp_path: Path) -> None:
    """Players of ours may play all tables at once, but not if one at the tables could remember."""
    game = variant.make()
    if how == "match":
        truth = match(game, ["random", SPY], tmp_path, 12)
    else:
        truth = tournament(game, ["random", SPY, "random"], tmp_path)
    once, more = truth.count(spies.MADE)
    assert more == 0
    assert once >= 8 or game.name == "kuhn_poker"
    assert {len(spy.seats) for spy in spies.MADE} <= {0, 1}


def test_in_teams_of_different_players(tmp_path: Path) -> None:
    game = make_game("armadora", players=4)
    truth = tournament(game, [SPY] * 4, tmp_path, mixed=True)
    assert_nothing_more(game, truth, spies.MADE, 100)


@every_rich_game
def test_in_worker_processes(
    variant: Variant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process plays several rotations of a deal, one after another."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    game, seen = variant.make(), tmp_path / "seen"
    seen.mkdir()
    spec = f'{SPY},"{seen}"'
    truth = match(game, [spec] * 2, tmp_path, 12, workers=2)
    assert_nothing_more(game, truth, spies.written(seen, game), 4 * game.players)


@every_variant
def test_in_environments_with_opponents(variant: Variant) -> None:
    """Regression: one player held all other seats, and saw what each of them hides."""
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
        masks[~masks.any(axis=1), 0] = 1  # the action that begins the next game is ignored
        _, _, over, cut, info = env.step(rng.choice(np.flatnonzero(mask)))
        mask = (env.reset()[1] if over or cut else info)["action_mask"]
    assert [spy.seats for spy in spies.MADE] == 3 * [{seat} for seat in range(1, game.players)]


@every_rich_game
def test_at_the_terminal(variant: Variant) -> None:
    """Regression: the last player, which fills all seats left, was one for all of them."""
    game = variant.make()
    watch_at_terminal(game, [SPY], seed=3)
    assert [spy.seats for spy in spies.MADE] == [{seat} for seat in range(game.players)]


# --- objects, which nobody can make anew ----------------------------------------------------------


def test_an_object_never_has_two_games_of_a_deal_before_it(tmp_path: Path) -> None:
    """It plays all its games. Only when they come, and where, tells it nothing."""
    game = make_game("armada", cards=True, max_turns=6)
    spy = Spy(game)
    truth = match(game, [spy, Spy(game)], tmp_path, 80)
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
    assert sum(same) < 6  # by chance, one in forty


def test_random_numbers_are_those_of_the_game_at_its_table() -> None:
    """Regression: the games of a deal had the same numbers, which told that they are sisters."""
    drawn = np.concatenate(
        [draw_seeds(5, 0, 50, table) for table in [(), (0,), (1,), (0, 0), (0, 1), (1, 0)]]
    )
    assert np.unique(drawn).size == drawn.size


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


@every_rich_game
def test_on_ray(variant: Variant, tmp_path: Path, cluster: Workers) -> None:
    """A cluster gets objects, one for each seat; a worker plays several rotations of a deal."""
    game, seen = variant.make(), tmp_path / "seen"
    seen.mkdir()
    spec = f'{SPY},"{seen}"'
    truth = match(game, [spec] * 2, tmp_path, 12, workers=cluster)
    assert_nothing_more(game, truth, spies.written(seen, game), 4 * game.players)
