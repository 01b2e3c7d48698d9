"""Fuzzer of threads: several threads use the same environment, of any kind.

OpenSpiel's states are not tested, because OpenSpiel's own code is not safe for threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from threading import Barrier, Thread
from typing import Any

import gymnasium
import numpy as np

from armarl import IllegalActionError, SeatEnv, SeatVectorEnv, SelfPlayBatch
from armarl.environments.aec import CheckedAECEnv, RawAECEnv
from armarl.environments.one_thread import IN_USE
from armarl_training import make_vec_env
from doors.games import pool

Call = Callable[[np.random.Generator], object]
# An environment, a function that returns its states, and its methods.
Face = tuple[Any, Callable[[], Any], list[Call]]
# A call may raise these errors because another thread's call has changed the game before it.
OVERTAKEN = (IllegalActionError, gymnasium.error.ResetNeeded)


def _aec(kind: type[RawAECEnv], variant: int) -> Face:
    env = kind(pool(variant)[0])
    env.reset(seed=0)

    def step(rng: np.random.Generator) -> None:
        agent = env.agent_selection
        mask = env.observe(agent)["action_mask"]
        action = int(rng.choice(np.flatnonzero(mask))) if mask.any() else None
        try:
            env.step(action)
        # In the meantime, the game has ended or another game has begun.
        except (TypeError, ValueError, AssertionError) as error:
            if "None" not in str(error) and "action space" not in str(error):
                raise

    calls: list[Call] = [
        *[step] * 4,
        lambda rng: env.reset(seed=int(rng.integers(9)) if rng.integers(2) else None),
        lambda rng: env.observe(env.possible_agents[0]),
        lambda rng: env.state(),
        lambda rng: env.describe(0),
        lambda rng: env.concealed_state(),
        lambda rng: env.picture(0),
        lambda rng: env.load_state(env.state_bytes()),
    ]
    return env, lambda: env._states, calls


def _seat_env(variant: int) -> Face:
    env = SeatEnv(pool(variant)[0], opponents="greedy", render_mode="ansi")
    env.reset(seed=0)
    calls: list[Call] = [
        *[lambda rng: env.step(_choice(env.action_masks(), rng))] * 4,
        lambda rng: env.reset(seed=int(rng.integers(9))),
        lambda rng: env.render(),
        lambda rng: env.describe(0),
        lambda rng: env.picture(0),
        lambda rng: env.concealed_state(),
    ]
    return env, lambda: env.states, calls


def _vector_env(variant: int) -> Face:
    env = SeatVectorEnv(pool(variant)[0], 3, opponents="greedy", render_mode="ansi")
    env.reset(seed=0)
    calls: list[Call] = [
        *[lambda rng: env.step(env.action_masks().argmax(axis=1))] * 4,
        lambda rng: env.reset(seed=int(rng.integers(9))),
        lambda rng: env.render(),
    ]
    return env, lambda: env._batch.states, calls


def _sb3(variant: int) -> Face:
    env = make_vec_env(pool(variant)[0], 3, opponents="greedy", seed=0)
    env.reset()
    calls: list[Call] = [
        *[lambda rng: env.step(env.action_masks().argmax(axis=1))] * 4,
        lambda rng: env.reset(),
    ]
    return env, lambda: env.batch.states, calls


def _self_play(variant: int) -> Face:
    batch = SelfPlayBatch(pool(variant)[0], 70)
    masks = [batch.reset(seed=0).masks]

    def step(rng: np.random.Generator) -> None:
        masks[0] = batch.step(masks[0].argmax(axis=1)).masks

    calls: list[Call] = [
        *[step] * 4,
        lambda rng: batch.reset(seed=int(rng.integers(9))),
        lambda rng: batch.load_states(pool(variant)[0].new_states(np.arange(70))),
        lambda rng: batch.to("cpu"),
    ]
    return batch, lambda: batch.states, calls


def _choice(mask: Any, rng: np.random.Generator) -> int:
    legal = np.flatnonzero(mask)
    return int(rng.choice(legal)) if legal.size else 0


MAKERS: list[Callable[[int], Face]] = [
    lambda variant: _aec(RawAECEnv, variant),
    lambda variant: _aec(CheckedAECEnv, variant),
    *(_seat_env, _vector_env, _sb3, _self_play),
]


@cache
def _face(kind: int, variant: int) -> Face:
    return MAKERS[kind](variant)


def prepare_threads() -> None:
    import logging

    logging.disable(logging.WARNING)  # PettingZoo warns of every illegal action
    sys.setswitchinterval(1e-6)
    for kind in range(len(MAKERS)):
        for variant in (0, 4):
            for call in _face(kind, variant)[2]:
                call(np.random.default_rng(0))


def threads(rng: np.random.Generator) -> str:
    """Let threads use one environment. Overlapping calls are refused, and the states stay valid."""
    variant = (0, 4)[rng.integers(2)]
    env, states, calls = _face(int(rng.integers(len(MAKERS))), variant)
    number = int(rng.integers(2, 5))
    begin, errors, refusals = Barrier(number), [], []

    def use(own: np.random.Generator) -> None:
        begin.wait()
        for _ in range(own.integers(1, 12)):
            try:
                calls[own.integers(len(calls))](own)
            except RuntimeError as error:
                (refusals if str(error) == IN_USE else errors).append(error)
            except OVERTAKEN as error:
                if str(error).startswith("the player"):
                    errors.append(error)  # the error blames an opponent for an illegal action
            except Exception as error:
                errors.append(error)

    users = [Thread(target=use, args=(own,)) for own in rng.spawn(number)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    if errors:
        raise errors[0]
    pool(variant)[0].check_states(states().copy())
    assert not env._at_work, "the environment stays in use"
    return "refused" if refusals else "accepted"
