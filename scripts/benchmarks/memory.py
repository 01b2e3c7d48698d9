"""Measurements of memory: a state record, a batch's memory per game, and a million states."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.frame import Measurement
from benchmarks.ours import BATCH, Variant, title

VARIANTS: list[Variant] = [
    ("armadora", {"players": 2}),
    ("armadora", {"players": 4, "advanced": True}),
    ("armada", {"players": 2}),
    ("armada", {"players": 4, "cards": True}),
]
STATE, OBSERVATION, MASK = "state", "observation", "mask"
IN_BATCH = "all that a batch holds per game: states, observation, mask, rewards, the rest"
MILLION = "a million states, growth of the process"


def groups() -> Iterator[list[Measurement]]:
    """Yield a group of memory sizes in bytes. Each is measured once, because it does not vary."""
    yield [
        *(
            _bytes(title(variant), what, "memory.per_game", {"variant": variant, "what": what})
            for variant in VARIANTS
            for what in (STATE, OBSERVATION, MASK, IN_BATCH)
        ),
        *(
            _bytes(title(variant), MILLION, "memory.million", {"variant": variant})
            for variant in VARIANTS
        ),
        _bytes(
            "Pgx connect_four",
            "its state, which contains the observation and the mask",
            "memory.pgx",
            {"game": "connect_four"},
            "pgx",
        ),
    ]


def _bytes(
    subject: str, how: str, probe: str, options: dict[str, Any], package: str = "armarl"
) -> Measurement:
    return Measurement(
        "memory", subject, how, probe, options, unit="bytes", package=package, most=1
    )


def per_game(variant: Variant, what: str) -> Callable[[], float]:
    """Return a function that returns the bytes per game of `what`: one array, or a whole batch."""
    from armarl import SelfPlayBatch, make_game

    game = make_game(variant[0], **variant[1])
    if what == IN_BATCH:
        batch = SelfPlayBatch(game, BATCH)
        turn = batch.reset(seed=0)
        held = [*vars(batch).values(), *vars(turn).values()]
        total = sum(array.nbytes for array in held if isinstance(array, np.ndarray))
        return lambda: total / BATCH
    sizes = {
        STATE: game.blank.dtype.itemsize,
        OBSERVATION: 4 * game.observation.size,
        MASK: len(game.actions),
    }
    return lambda: sizes[what]


def million(variant: Variant) -> Callable[[], float]:
    """Return a function that creates a million states, and returns the growth of peak memory."""
    import resource  # imported here, because it does not exist on Windows

    from armarl import make_game

    game = make_game(variant[0], **variant[1])
    game.new_states(np.arange(1000))

    def sample() -> float:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        states = game.new_states(np.arange(1_000_000))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert states.size == 1_000_000
        return float(after - before) * (1 if sys.platform == "darwin" else 1024)

    return sample


def pgx(game: str) -> Callable[[], float]:
    """Return a function that returns the bytes per game of all arrays in Pgx's state."""
    import jax
    import pgx as library

    keys = jax.random.split(jax.random.key(0), BATCH)
    state = jax.jit(jax.vmap(library.make(game).init))(keys)
    total = sum(leaf.nbytes for leaf in jax.tree_util.tree_leaves(state))
    return lambda: total / BATCH
