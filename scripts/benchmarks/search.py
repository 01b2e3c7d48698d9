"""Measurements of search: whole simulations, parts of a simulation, and OpenSpiel's ISMCTS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.frame import Measurement
from benchmarks.ours import title

SIMULATIONS = 1000  # per decision
BATCH = 8  # decisions per call
TURNS_OF_ARMADA = (1, 6)  # values of `max_turns` (turns summed over the colours)
VARIANTS: tuple[Any, ...] = (
    ("armadora", {"players": 2}),
    *(("armada", {"players": 2, "cards": True, "max_turns": turns}) for turns in TURNS_OF_ARMADA),
)
SEARCHES: dict[str, dict[str, Any]] = {
    "ISMCTS, random playouts": {"player": "IsmctsPlayer"},
    "the same, multiple observers": {"player": "IsmctsPlayer", "observers": "multiple"},
    "GRAVE, random playouts": {"player": "SearchPlayer"},
    "flat, random playouts": {"player": "FlatPlayer"},
}
PLAYOUT, DEAL = "a random playout alone: the rules", "a determinisation alone, copy included"
PEERS = ("kuhn_poker", "leduc_poker", "gin_rummy")


def groups() -> Iterator[list[Measurement]]:
    """Yield one group for one core: this package's searches, their parts, and the peer's games."""
    yield [
        *(_ours(variant, how) for variant in VARIANTS for how in SEARCHES),
        *(
            Measurement("search", title(v), how, f"search.{probe}", {"variant": v}, unit="times/s")
            for v in VARIANTS
            for how, probe in ((PLAYOUT, "playouts"), (DEAL, "deals"))
        ),
        *(
            Measurement(
                "search",
                f"OpenSpiel {game}",
                "its ISMCTS, random playouts",
                "search.open_spiel",
                {"game": game},
                unit="simulations/s",
                package="pyspiel",
            )
            for game in PEERS
        ),
    ]


def _ours(variant: Any, how: str) -> Measurement:
    options = {"variant": variant, **SEARCHES[how]}
    return Measurement("search", title(variant), how, "search.ours", options, unit="simulations/s")


def _roots(variant: Any) -> tuple[Any, Any, Any]:
    """Return a game, some of its initial states, and the seats to move in these states."""
    from armarl import make_game

    name, options = variant
    game = make_game(name, **options)
    states = game.new_states(np.arange(BATCH))
    return game, states, game.statuses(states)[1]


def ours(variant: Any, player: str, **options: Any) -> Callable[[], int]:
    """Return a chunk that searches for the first decision of games and counts the simulations."""
    from armarl import search

    game, states, seats = _roots(variant)
    plain = {"margin_share": 0.0, "scripted": 0.0, "depth": -1, "led": False, "patient": False}
    searcher = getattr(search, player)(game, SIMULATIONS, **plain, **options)
    draws = np.random.default_rng(0).random(BATCH)

    def chunk() -> int:
        searcher.think(states, seats, draws)
        return SIMULATIONS * BATCH

    chunk()
    return chunk


def playouts(variant: Any) -> Callable[[], int]:
    """Return a chunk that plays games at random to the end, from the same deals as in `ours`.

    The chunk counts the games.
    """
    game, states, _ = _roots(variant)
    many = np.repeat(states, SIMULATIONS)

    def chunk() -> int:
        begun = game.taken(many, np.arange(many.size))
        game.playouts(begun, np.arange(many.size))
        return many.size

    chunk()
    return chunk


def deals(variant: Any) -> Callable[[], int]:
    """Return a chunk that redeals the information hidden from the seats, and counts the redeals."""
    game, states, seats = _roots(variant)
    many, viewers = np.repeat(states, SIMULATIONS), np.repeat(seats, SIMULATIONS)

    def chunk() -> int:
        game.determinised(many, viewers, np.arange(many.size))
        return many.size

    chunk()
    return chunk


def open_spiel(game: str) -> Callable[[], int]:
    """Return a chunk that runs OpenSpiel's bot (in C++) once and counts the simulations."""
    import pyspiel

    loaded = pyspiel.load_game(game)
    bot = pyspiel.ISMCTSBot(
        0,
        pyspiel.RandomRolloutEvaluator(1, 0),
        2.0,
        SIMULATIONS,
        -1,
        pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT,
        False,
        False,
    )
    rng = np.random.default_rng(0)

    def chunk() -> int:
        state = loaded.new_initial_state()
        while state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=chances)))
        bot.step(state)
        return SIMULATIONS

    chunk()
    return chunk
