"""Measurements of this package: playouts, and steps of batches with and without observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.frame import Measurement, core_counts
from benchmarks.peers import CHUNK
from benchmarks.peers import pgx_measurements as pgx
from benchmarks.sampling import Sampler

Variant = tuple[str, dict[str, Any]]

PLAYED: list[Variant] = [
    *(("armadora", {"players": players}) for players in (2, 3, 4)),
    *(("armadora", {"players": players, "advanced": True}) for players in (2, 3, 4)),
    ("armada", {"players": 2}),
    *(("armada", {"players": players, "cards": True}) for players in (2, 3, 4)),
]
STEPPED: list[Variant] = [
    ("armadora", {"players": 2}),
    ("armadora", {"players": 4, "advanced": True}),
    ("armada", {"players": 2}),
    ("armada", {"players": 2, "cards": True}),
]
SCALED: list[Variant] = [("armadora", {"players": 2}), ("armada", {"players": 2, "cards": True})]
BATCH = 1024
BATCHES = (1, 64, 1024, 8192)
WITH, WITHOUT = "step + mask + observation", "step + mask"
OWN_LOOP = f"the same in a user's compiled loop of {CHUNK} steps"

PROBES = {WITH: "ours.steps", WITHOUT: "ours.blind_steps", OWN_LOOP: "ours.own_loop"}


def title(variant: Variant) -> str:
    """Return a title such as `Armadora, 3 players, advanced`."""
    game, options = variant
    others = {name: value for name, value in options.items() if name != "players"}
    switches = [name if value is True else f"{name}={value}" for name, value in others.items()]
    return ", ".join([game.capitalize(), f"{options['players']} players", *switches])


def playout_groups() -> Iterator[list[Measurement]]:
    """Yield groups of complete random games in compiled loops, on one core and on all cores."""
    for cores in core_counts():
        yield [
            Measurement(
                "playouts",
                title(variant),
                "",
                "ours.playouts",
                {"variant": variant},
                unit="actions/s",
                cores=cores,
            )
            for variant in PLAYED
        ]


def step_groups() -> Iterator[list[Measurement]]:
    """Yield groups of random legal steps, of our games and of peers, on one core and on all."""
    for cores in core_counts():
        yield [
            *(_steps("steps", variant, WITH, BATCH, cores) for variant in STEPPED),
            *(_steps("steps", variant, WITHOUT, BATCH, cores) for variant in STEPPED),
            *(_steps("steps", variant, OWN_LOOP, BATCH, cores) for variant in SCALED),
            *(m for game in peers.PGX_GAMES for m in pgx("steps", game, BATCH, cores)),
            *peers.envpool_measurements("steps", peers.ENVPOOL_GAMES, BATCH, cores),
            *(peers.open_spiel_measurements("steps") if cores == 1 else []),
        ]


def scaling_groups() -> Iterator[list[Measurement]]:
    """Yield groups of steps by batch size, on one core and on all. Peers play connect four."""
    for cores in core_counts():
        for batch in BATCHES:
            yield [
                *(_steps("scaling", variant, WITH, batch, cores) for variant in SCALED),
                *(_steps("scaling", variant, WITHOUT, batch, cores) for variant in SCALED),
                *pgx("scaling", peers.PGX_GAMES[0], batch, cores),
                *peers.envpool_measurements("scaling", peers.ENVPOOL_GAMES[:1], batch, cores),
            ]


def vector_groups() -> Iterator[list[Measurement]]:
    """Yield groups of Gymnasium's vector environments: a learner against random opponents."""
    for cores in core_counts():
        yield [
            Measurement(
                "vector",
                title(variant),
                how,
                "ours.vector_env",
                {"variant": variant, "how": how},
                VECTOR_ENVS[how][0],
                unit="decisions/s",
                cores=cores,
            )
            for variant in SCALED
            for how in VECTOR_ENVS
        ]


# The number of environments and the other arguments of `make_vec`, by the `how` of a measurement.
VECTOR_ENVS: dict[str, tuple[int, dict[str, Any]]] = {
    f"our VectorEnv of {BATCH}": (BATCH, {}),
    f"our VectorEnv of {BATCH}, copy=False": (BATCH, {"copy": False}),
    "Gymnasium's SyncVectorEnv of 64 of our environments": (64, {"vectorization_mode": "sync"}),
}


def _steps(section: str, variant: Variant, how: str, batch: int, cores: int) -> Measurement:
    options = {"variant": variant, "batch": batch}
    return Measurement(section, title(variant), how, PROBES[how], options, batch, cores=cores)


def playouts(variant: Variant) -> Callable[[], int]:
    """Return a chunk that deals games, plays them at random to the end and counts the actions."""
    game, numbers = _game(variant), np.arange(BATCH)

    def chunk() -> int:
        nonlocal numbers
        numbers = numbers + BATCH
        return int(game.playouts(game.new_states(numbers), numbers)[1].sum())

    chunk()
    return chunk


def steps(variant: Variant, batch: int) -> Callable[[], int]:
    """Return a chunk that calls `SelfPlayBatch.step` with random legal actions.

    A compiled loop picks the actions. The chunk counts the steps.
    """
    from armarl import SelfPlayBatch
    from armarl.core import batch_loops

    game = _game(variant)
    games = SelfPlayBatch(game, batch)
    turn = games.reset(seed=0)
    chance, actions = np.arange(batch).astype(np.uint64), np.zeros(batch, np.int64)
    calls = _calls(batch)

    def chunk() -> int:
        for _ in range(calls):
            game.run(batch_loops.pick_action, batch, batch_loops.Picks(turn.masks, chance, actions))
            games.step(actions, out=turn)
        return calls * batch

    chunk()
    return chunk


def blind_steps(variant: Variant, batch: int) -> Callable[[], int]:
    """Return a chunk that makes the same steps as `steps`, but computes no observations."""
    from armarl.core import batch_loops

    game = _game(variant)
    states = game.new_states(np.arange(batch))
    chance, actions = np.arange(batch).astype(np.uint64), np.zeros(batch, np.int64)
    over, ends = np.zeros((2, batch), np.int8)
    finals, rewards = np.full(batch, game.blank), np.zeros((batch, game.players))
    masks = game.legal_masks(states)
    legal = np.full((batch, batch_loops.packed_size(len(game.actions))), -1, np.int32)
    plays = batch_loops.Plays(states, actions, 0, True, over, legal, ends, rewards, finals)
    calls = _calls(batch)

    def chunk() -> int:
        for _ in range(calls):
            game.run(batch_loops.pick_action, batch, batch_loops.Picks(masks, chance, actions))
            game.run(batch_loops.take_turn, batch, plays)
            game.run(batch_loops.read_mask, batch, batch_loops.Masks(states, masks))
        return calls * batch

    chunk()
    return chunk


def own_loop(variant: Variant, batch: int) -> Callable[[], int]:
    """Return a chunk that plays at random in a compiled loop like the user's loop in batches.md."""
    import numba

    from armarl.compiler.randomness import pick, uniform

    game = _game(variant)
    verbs = game.verbs
    apply, legal, observe = verbs.apply, verbs.legal, verbs.observe
    start, status, to_move = verbs.start, verbs.status, verbs.to_move

    # Numba's parallel loops accept arrays of records, but no single record.
    charts = np.zeros(0) if game.fixed is None else np.full(1, game.fixed)
    records = numba.njit((lambda _: ()) if game.fixed is None else (lambda charts: (charts[0],)))

    @numba.njit(parallel=True)
    def play(states: Any, chance: Any, observations: Any, masks: Any, charts: Any) -> None:
        for i in numba.prange(states.size):
            s, fixed = states[i], records(charts)
            for _ in range(CHUNK):
                apply(s, pick(masks[i], uniform(chance, i)), *fixed)
                if status(s):
                    start(s, *fixed)
                legal(s, masks[i], *fixed)
                observe(s, to_move(s), observations[i], *fixed)

    states = game.new_states(np.arange(batch))
    chance, masks = game.new_chance(np.arange(batch)), game.legal_masks(states)
    observations = np.zeros((batch, game.observation.size), np.float32)

    def chunk() -> int:
        play(states, chance, observations, masks, charts)
        return CHUNK * batch

    chunk()
    return chunk


def vector_env(variant: Variant, how: str) -> Callable[[], int]:
    """Return a chunk that runs `gymnasium.make_vec` and counts the learner's decisions.

    Steps that only begin an episode do not count.
    """
    import gymnasium

    import armarl  # noqa: F401 - registers the ids

    (name, options), (size, settings) = variant, VECTOR_ENVS[how]
    env = gymnasium.make_vec(f"armarl/{name.capitalize()}-v0", num_envs=size, **settings, **options)
    sampler = Sampler(size)
    info = env.reset(seed=0)[1]
    calls = _calls(size)

    def chunk() -> int:
        nonlocal info
        over = 0
        for _ in range(calls):
            _, _, terminated, truncated, info = env.step(sampler(info["action_mask"]))
            over += np.count_nonzero(terminated | truncated)
        return calls * size - over

    chunk()
    return chunk


def _game(variant: Variant) -> Any:
    from armarl import make_game

    name, options = variant
    return make_game(name, **options)


def _calls(batch: int) -> int:
    """Return the number of calls between two readings of the clock, for a batch size."""
    return max(1, 2048 // batch)
