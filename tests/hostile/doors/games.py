"""Fuzzers of arrays, states and saved games, as arguments of the compiled rules and of `valid`."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.environments.aec import RawAECEnv
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.games.make_game import make_game
from armarl.policies.afterstates import Afterstates

REFUSALS = (TypeError, ValueError)  # the documented exceptions

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("armadora", {"players": 2}),
    ("armadora", {"players": 3, "advanced": True, "peek": False}),
    ("armadora", {"players": 4, "advanced": True}),
    ("armadora", {"board": "mini"}),
    ("armada", {"players": 2, "cards": True, "enrolment": True, "max_turns": 20}),
    ("armada", {"players": 3, "cards": True, "max_turns": 20}),
    ("armada", {"players": 4, "enrolment": True, "max_turns": 20}),
]


@cache
def pool(variant: int) -> tuple[Game, States]:
    """Return a game, and valid states from the beginning, middle and end of some games."""
    name, options = VARIANTS[variant]
    game = make_game(name, **options)
    states, chance = game.new_states(np.arange(4)), game.new_chance(np.arange(4))
    found = []
    while True:
        found.append(states.copy())
        going_on = np.flatnonzero(game.statuses(states)[0] == 0)
        if going_on.size == 0:
            return game, np.concatenate(found)
        actions = game.random_actions(game.legal_masks(states), chance)
        game.play(states, going_on, actions[going_on])


def prepare_states() -> None:
    for variant in range(len(VARIANTS)):
        pool(variant)


prepare_saves = prepare_states


def prepare_arrays() -> None:
    prepare_states()
    for variant in range(len(VARIANTS)):
        _batch(variant)


# --- arrays --------------------------------------------------------------------------------------


def arrays(rng: np.random.Generator) -> str:
    """Call a method of `Game`, or of a class that uses it, with some damaged arguments."""
    if rng.integers(4) == 0:
        return (_one_state, _step)[rng.integers(2)](rng)
    game, known = pool(int(rng.integers(len(VARIANTS))))
    n = int(rng.integers(0, 6))
    states = known[rng.integers(known.size, size=n)].copy()
    numbers, draws = rng.integers(-3, 9, size=n), rng.integers(2**63, size=n, dtype=np.uint64)
    games, seats = rng.permutation(n), rng.integers(game.players, size=n)
    masks = game.legal_masks(states)
    chosen = np.array([rng.choice(np.flatnonzero(m)) if m.any() else 0 for m in masks], np.int64)
    calls: list[tuple[Callable[..., Any], list[Any]]] = [
        (game.deal, [states, games, numbers]),
        (game.apply, [states, games, chosen[games]]),
        (game.check_states, [states]),
        (game.legal_masks, [states]),
        (game.views, [states, seats]),
        (game.concealed, [states, seats]),
        (game.determinised, [states, seats, numbers]),
        (game.statuses, [states]),
        (game.progress, [states, seats]),
        (game.returns, [states, games]),
        (game.playouts, [states, numbers]),
        (game.new_states, [numbers]),
        (game.new_chance, [numbers]),
        (game.random_actions, [masks, draws]),
        (game.questions, [states, games, draws]),
    ]
    if game.survey:
        after = Afterstates(game)
        calls += [(after.surveys, [states, seats]), (after.parts, [states])]
    method, good = calls[rng.integers(len(calls))]
    given = [spoilt(a, rng) if rng.integers(3) == 0 else a for a in good]
    frozen = [(a, a.tobytes()) for a in given if _is_frozen(a)]
    try:
        method(*given)
    except REFUSALS:
        return "refused"
    finally:
        assert all(a.tobytes() == before for a, before in frozen), "a read-only array changed"
    if method != game.new_states:  # `new_states` also accepts plain integers
        assert all(map(_is_like, given, good)), "a wrong array was accepted"
    return "accepted"


def _one_state(rng: np.random.Generator) -> str:
    """Call a method that shows one state as text."""
    variant, other = rng.integers(len(VARIANTS), size=2)
    game, known = pool(int(variant))
    theirs = pool(int(other))[1]
    kinds: list[Any] = [theirs[rng.integers(theirs.size)], known[:1], known[:0], None, 7, "state"]
    state = kinds[rng.integers(len(kinds))] if rng.integers(2) else known[rng.integers(known.size)]
    seat = [None, 0, game.players - 1, game.players, -1, True, 1.0, "0"][rng.integers(8)]
    action = [0, len(game.actions) - 1, len(game.actions), -1, 2**70][rng.integers(5)]
    try:
        game.describe(state, seat)
        game.draw(state, seat)
        game.explain(state, action)
    except REFUSALS:
        return "refused"
    assert isinstance(state, np.void)
    assert state.dtype == game.blank.dtype
    return "accepted"


@cache
def _batch(variant: int) -> SelfPlayBatch:
    batch = SelfPlayBatch(pool(variant)[0], 3)
    batch.step(np.zeros(3, np.int64), out=batch.reset(seed=0))
    return batch


def _step(rng: np.random.Generator) -> str:
    """Call a step of a batch with one damaged argument, sometimes after loading states."""
    variant = int(rng.integers(len(VARIANTS)))
    batch, known = _batch(variant), pool(variant)[1]
    states: Any = known[rng.integers(known.size, size=batch.size)].copy()
    actions: Any = rng.integers(-2, len(batch.game.actions) + 2, size=batch.size)
    turn = batch.new_turn()
    kind = int(rng.integers(3))
    if kind == 0:
        states = spoilt(states, rng)
    elif kind == 1:
        actions = spoilt(actions, rng)
    else:
        name = sorted(vars(turn))[rng.integers(len(vars(turn)))]
        turn = replace(turn, **{name: spoilt(getattr(turn, name), rng)})
    given = [states, actions, *vars(turn).values()]
    frozen = [(a, a.tobytes()) for a in given if _is_frozen(a)]
    before = batch.states.tobytes()
    try:
        if rng.integers(2):
            batch.load_states(states, out=turn)
            before = batch.states.tobytes()
        batch.step(actions, out=turn)
    except REFUSALS:
        assert batch.states.tobytes() == before, "a refused call changed the games"
        return "refused"
    finally:
        assert all(a.tobytes() == was for a, was in frozen), "a read-only array changed"
        batch.game.check_states(batch.states)
    wanted = vars(batch.new_turn())
    assert all(_is_like(a, wanted[name]) for name, a in vars(turn).items())
    return "accepted"


def _is_like(given: Any, good: Any) -> bool:
    """Return whether `given` is an array of the required kind."""
    return (
        isinstance(given, np.ndarray)
        and (given.dtype, given.ndim) == (good.dtype, good.ndim)
        and given.flags.c_contiguous
        and given.flags.aligned
    )


def _is_frozen(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and not argument.flags.writeable


def spoilt(array: Any, rng: np.random.Generator) -> Any:
    """Return an array of another type, length or memory layout, or with numbers out of range."""
    kind = int(rng.integers(12))
    if kind == 0:
        return array[: rng.integers(array.shape[0] + 1)]
    if kind == 1:
        return np.repeat(array, 2, axis=0)[::2]
    if kind == 2:
        frozen = array.copy()
        frozen.flags.writeable = False
        return frozen
    if kind == 3:
        other = pool(int(rng.integers(len(VARIANTS))))[1]
        return other[rng.integers(other.size, size=array.shape[0])].copy()
    if kind == 4:
        return [array, None, "7", 1.7, True, 2**63, array.tobytes()][rng.integers(7)]
    if kind == 5:
        return array.tolist()
    if kind == 6:
        return array.reshape(1, *array.shape)
    if kind == 7:
        whole = np.zeros(array.nbytes + 1, np.uint8)[1:]  # an unaligned array
        return whole.view(array.dtype).reshape(array.shape)
    if array.dtype.names:
        return np.concatenate([array, array[:1]])
    if kind == 8:
        types = [np.int8, np.int32, np.uint64, np.float64, np.bool_, np.float32, ">i8"]
        return array.astype(types[rng.integers(len(types))])
    changed = array.copy()
    if changed.size and changed.dtype.kind == "f":
        numbers = [np.nan, np.inf, -1.0, 1.0, 1e300]
        changed.flat[rng.integers(changed.size)] = numbers[rng.integers(5)]
    elif changed.size:
        low, high = (np.iinfo(changed.dtype).min, np.iinfo(changed.dtype).max)
        values = [low, high, 0, min(high, 10**6), 2]
        changed.flat[rng.integers(changed.size)] = values[rng.integers(5)]
    return changed


# --- states --------------------------------------------------------------------------------------


def states(rng: np.random.Generator) -> str:
    """Change some elements or bytes of a valid state.

    Play an accepted state until the game ends.
    """
    game, known = pool(int(rng.integers(len(VARIANTS))))
    state = known[rng.integers(known.size)].reshape(1).copy()
    for _ in range(rng.integers(1, 4)):
        change(state, known, rng)
    try:
        game.check_states(state)
    except ValueError:
        return "refused"
    seats = rng.integers(game.players, size=1)
    game.views(state, seats)
    game.describe(state[0])
    game.draw(state[0], int(seats[0]))
    if not game.statuses(state)[0][0]:
        game.check_states(game.determinised(state, seats, seats))
    lengths = game.playouts(state, rng.integers(2**62, size=1))[1]
    assert lengths[0] <= game.max_actions, "the game is too long"
    game.check_states(state)
    return "accepted"


def change(state: States, known: States, rng: np.random.Generator) -> None:
    names = state.dtype.names or ()
    name = names[rng.integers(len(names))]
    column = state[name]
    place = (0, *(rng.integers(size) for size in column.shape[1:]))
    limits = np.iinfo(column.dtype)
    kind = rng.integers(5)
    if kind == 0:
        state[name] = known[name][rng.integers(known.size)]
        return
    if kind == 1:
        state.view(np.uint8)[rng.integers(state.nbytes)] ^= np.uint8(1 << rng.integers(8))
        return
    if kind == 2:  # a piece moves to another place
        other = (0, *(rng.integers(size) for size in column.shape[1:]))
        column[place], column[other] = column[other].copy(), column[place].copy()
        return
    value = int(column[place]) + int(rng.integers(-2, 3))
    if kind == 3:
        value = int(rng.integers(limits.min, limits.max, dtype=column.dtype))
    column[place] = min(max(value, limits.min), limits.max)


# --- saved games ---------------------------------------------------------------------------------


def saves(rng: np.random.Generator) -> str:
    """Damage a saved game, or forge it with a correct checksum. If accepted, continue the game."""
    game, known = pool(int(rng.integers(len(VARIANTS))))
    env = RawAECEnv(game)
    env.reset(seed=0)
    size = game.blank.dtype.itemsize
    heading = env.state_bytes()[: -size - 4]
    state = known[rng.integers(known.size)].reshape(1).copy()
    kind = int(rng.integers(4))
    if kind < 3:
        for _ in range(rng.integers(3)):
            change(state, known, rng)
    record = state.tobytes()
    whole = heading + record + zlib.crc32(record).to_bytes(4, "big")
    data: Any = damaged(whole, rng) if kind == 3 else whole
    if rng.integers(20) == 0:
        data = [None, "text", 7, bytearray(whole), memoryview(whole), np.frombuffer(whole, "u1")][
            rng.integers(6)
        ]
    before = env.state_bytes()
    try:
        env.load_state(data)
    except REFUSALS:
        assert env.state_bytes() == before, "a refused game changed the game in play"
        return "refused"
    assert env.state_bytes() == bytes(data)
    for _ in range(rng.integers(20)):
        agent = env.agent_selection
        mask = env.observe(agent)["action_mask"]
        if env.terminations[agent] or env.truncations[agent]:
            assert not mask.any()
            return "accepted"
        env.step(int(rng.choice(np.flatnonzero(mask))))
    left = np.frombuffer(env.state_bytes()[len(heading) : -4], game.blank.dtype).copy()
    game.check_states(left)
    assert game.playouts(left, rng.integers(2**62, size=1))[1][0] <= game.max_actions
    game.check_states(left)
    return "accepted"


def damaged(whole: bytes, rng: np.random.Generator) -> bytes:
    """Return a copy of some bytes, with a few of them changed, removed or added."""
    content = bytearray(whole)
    for _ in range(rng.integers(1, 4)):
        kind, at = rng.integers(6), int(rng.integers(len(content) + 1))
        if kind == 0 and content:
            content[at % len(content)] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del content[at:]
        elif kind == 2:
            content[at:at] = rng.bytes(int(rng.integers(1, 100)))
        elif kind == 3:
            del content[at : at + int(rng.integers(1, 20))]
        elif kind == 4:
            content[at : at + 8] = rng.bytes(len(content[at : at + 8]))
        else:
            start = int(rng.integers(len(content) + 1))
            content[at:at] = content[start : start + int(rng.integers(1, 200))]
    return bytes(content)
