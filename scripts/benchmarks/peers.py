"""Other libraries (peers) in random legal play, each used as its own documentation recommends.

For *chunk*, see `frame`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.frame import Measurement
from benchmarks.sampling import Sampler

CHUNK = 20  # batch steps between two readings of the clock
CALL, LOOP = "a jitted call per step", f"a jitted loop of {CHUNK} steps"  # two ways to run Pgx
# The last two games of Pgx and of EnvPool have hidden information.
PGX_GAMES = ("connect_four", "backgammon", "animal_shogi", "kuhn_poker", "leduc_holdem")
ENVPOOL_GAMES = ("ConnectFour-v1", "Backgammon-v1", "KuhnPoker-v1", "LeducHoldem-v1")
OPEN_SPIEL_GAMES = ("connect_four", "quoridor")


def pgx_measurements(section: str, game: str, batch: int, cores: int) -> Iterator[Measurement]:
    """Yield the measurements of a Pgx game, in every way of running it that may be the fastest."""
    for devices in sorted({1, cores}):
        if batch % devices:
            continue
        for how, scan in ((CALL, False), (LOOP, True)):
            options = {"game": game, "batch": batch, "scan": scan, "devices": devices}
            split = f", split over {devices} XLA devices" if devices > 1 else ""
            yield Measurement(
                section,
                f"Pgx {game}",
                how + split,
                "peers.pgx",
                options,
                batch,
                package="pgx",
                cores=cores,
            )


def envpool_measurements(
    section: str, games: tuple[str, ...], batch: int, cores: int
) -> Iterator[Measurement]:
    """Yield the measurements of EnvPool's games, with one thread per core."""
    for game in games:
        options = {"task": game, "batch": batch, "threads": cores}
        yield Measurement(
            section,
            f"EnvPool {game}",
            "",
            "peers.envpool",
            options,
            batch,
            package="envpool",
            cores=cores,
        )


def open_spiel_measurements(section: str) -> Iterator[Measurement]:
    """Yield the measurements of OpenSpiel's games, with one game on one core."""
    for game in OPEN_SPIEL_GAMES:
        yield Measurement(
            section,
            f"OpenSpiel {game}",
            "from Python",
            "peers.open_spiel",
            {"game": game},
            1,
            package="pyspiel",
        )


def pgx(game: str, batch: int, scan: bool, devices: int) -> Callable[[], int]:
    """Return a chunk that runs Pgx, jitted and vmapped, with auto-reset, and counts the steps.

    A Pgx state includes the observation and the mask. Without `scan`, every step is a call from
    Python, and a learner could read the observation and the mask after each step. With `scan`, the
    whole chunk is one compiled loop, so a learner would have to be part of it. The chunk does not
    read the observations. The batch may be split over several XLA devices, one per core, because
    XLA otherwise leaves cores idle in games as simple as connect four.
    """
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    import jax
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make(game)
    init, step = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))

    def random_step(state: Any, key: Any) -> tuple[Any, Any]:
        key, draws, resets = jax.random.split(key, 3)
        actions = _random_legal(state.legal_action_mask, draws)
        return step(state, actions, jax.random.split(resets, len(actions))), key

    def many(state: Any, key: Any) -> tuple[Any, Any]:
        return jax.lax.scan(lambda c, _: (random_step(*c), None), (state, key), length=CHUNK)[0]

    keys = jax.random.split(jax.random.key(0), batch)
    advance = many if scan else random_step
    if devices == 1:
        run = jax.jit(advance)
        state, key = jax.jit(init)(keys), jax.random.key(1)
    else:
        run = jax.pmap(advance)
        state = jax.pmap(init)(keys.reshape(devices, -1))
        key = jax.random.split(jax.random.key(1), devices)

    def chunk() -> int:
        nonlocal state, key
        for _ in range(1 if scan else CHUNK):
            state, key = run(state, key)
        jax.block_until_ready(state)
        return CHUNK * batch

    chunk()
    chunk()  # the second call may compile again, for the memory layout of the first call's output
    return chunk


def _random_legal(masks: Any, key: Any) -> Any:
    """Return a random legal action for each game, with one random number per game.

    `pgx.experimental.utils.act_randomly` draws one number per action, which is slower.
    """
    import jax
    import jax.numpy as jnp

    counts = jnp.cumsum(masks, axis=1)
    draws = jax.random.uniform(key, (masks.shape[0], 1)) * counts[:, -1:]
    return jnp.argmax(counts > draws, axis=1)


def envpool(task: str, batch: int, threads: int) -> Callable[[], int]:
    """Return a chunk that runs EnvPool synchronously and counts all steps, including restarts."""
    import envpool as library

    env = library.make_gymnasium(task, num_envs=batch, num_threads=threads, seed=0)
    sampler = Sampler(batch)
    info = env.reset()[1]

    def chunk() -> int:
        nonlocal info
        for _ in range(CHUNK):
            actions = sampler(info["legal_action_mask"]).astype(np.int32)
            info = env.step(actions)[4]
        return CHUNK * batch

    chunk()
    return chunk


def open_spiel(game: str) -> Callable[[], int]:
    """Return a chunk that runs one OpenSpiel game from Python and counts the steps.

    A step applies an action and reads the observation tensor and mask of the player to move.
    """
    import pyspiel

    loaded = pyspiel.load_game(game)
    rng = np.random.default_rng(0)
    mask = np.zeros(loaded.num_distinct_actions(), np.int8)
    state = loaded.new_initial_state()
    steps = 200

    def chunk() -> int:
        nonlocal state
        for _ in range(steps):
            state.observation_tensor(state.current_player())
            actions = state.legal_actions()
            mask[:] = 0
            mask[actions] = 1
            state.apply_action(actions[int(rng.random() * len(actions))])
            if state.is_terminal():
                state = loaded.new_initial_state()
        return steps

    chunk()
    return chunk
