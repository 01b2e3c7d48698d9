"""The rules compile unchanged as CUDA device functions.

`test_gpu.py` tests the kernels that call these functions. numba-cuda (the extra `cuda`, which the
extra `test` includes) compiles to PTX, without a GPU or its driver. A rule with an allocation or a
Python object does not compile. A rule with an exception does, so the tests search the PTX for
anything that could raise one.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from numba import types

from armarl.games.catalogue import OURS
from armarl.games.make_game import make_game

pytest.importorskip("numba_cuda", reason="needs the extra `cuda`: pip install '.[cuda]'")
cuda = importlib.import_module("numba.cuda")
dispatcher = importlib.import_module("numba.cuda.dispatcher")

CAPABILITY = (8, 0)
SEAT = ACTION = SEED = KIND = types.int64
DRAW = types.float64
RETURNS, MASK, OBSERVATION = types.float64[::1], types.int8[::1], types.float32[::1]

# Armadora's scripted player has tuple indices in range, but the compiler cannot know this.
MAY_RAISE = {("armadora", "greedy")}

GAME_NAMES = [entry.name for entry in OURS]
Compile = Callable[..., str]


@pytest.fixture
def compile_to_ptx(monkeypatch: pytest.MonkeyPatch) -> Compile:
    """Compile a function for argument types, without a device."""
    # For every called function, numba-cuda asks the device for its architecture.
    device = SimpleNamespace(compute_capability=CAPABILITY)
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)

    def compile_to_ptx(function: Any, arguments: tuple[Any, ...]) -> str:
        ptx, _ = cuda.compile(function, arguments, device=True, abi="numba", cc=CAPABILITY)
        return ptx

    return compile_to_ptx


def can_raise(ptx: str) -> bool:
    """Return whether a device function ever returns a nonzero status, as exceptions do in Numba."""
    returned = set(re.findall(r"\[func_retval0\+0\], (%r\d+);", ptx))
    assert returned
    assigned = re.findall(r"(%r\d+), (.+);", ptx)
    return any(value != "0" for register, value in assigned if register in returned)


def verbs_of(game: str) -> Any:
    return make_game(game).verbs


def record_of(game: str) -> Any:
    """Return Numba's type of the game's state."""
    return numba.from_dtype(make_game(game).blank.dtype)


def fixed_of(game: str) -> tuple[Any, ...]:
    """Return Numba's types of `*fixed`."""
    return tuple(numba.from_dtype(record.dtype) for record in make_game(game).fixed_records)


@pytest.mark.parametrize("game", GAME_NAMES)
def test_every_verb_is_a_device_function_that_cannot_raise(
    game: str, compile_to_ptx: Compile
) -> None:
    state, fixed = record_of(game), fixed_of(game)
    scratch = numba.from_dtype(make_game(game).scratch)[::1]
    arguments: dict[str, tuple[Any, ...]] = {
        "start": (state, *fixed),
        "legal": (state, MASK, *fixed),
        "apply": (state, ACTION, *fixed),
        "status": (state,),
        "to_move": (state,),
        "turn_of": (state,),
        "observe": (state, SEAT, OBSERVATION, *fixed),
        "returns": (state, KIND, RETURNS),
        "conceal": (state, SEAT),
        "determinise": (state, SEAT, SEED),
        "greedy": (state, DRAW, MASK, scratch, *fixed),
        "evaluate": (state, RETURNS, *fixed),
        "valid": (state, state, *fixed),
        "survey": (state, SEAT, OBSERVATION, *fixed),
        "divide": (state, types.float64[:, ::1]),
        "progress": (state, SEAT),
    }
    for name, verb in verbs_of(game)._asdict().items():
        ptx = compile_to_ptx(verb.py_func, arguments[name])
        assert ptx.count(".visible .func") == 1
        assert ".extern" not in ptx, f"{name} calls a function that is not its own"
        assert (game, name) in MAY_RAISE or not can_raise(ptx), f"{name} can raise"


# --- that these tests would notice ---------------------------------------------------------------


def allocates(n):
    return np.zeros(3)[n]


def makes_a_list(n):
    return [n, n][0]


def makes_a_text(n):
    return len(str(n))


@pytest.mark.parametrize("function", [allocates, makes_a_list, makes_a_text])
def test_what_needs_memory_or_python_does_not_compile(
    function: Any, compile_to_ptx: Compile
) -> None:
    with pytest.raises(Exception, match=r"No implementation of function|NRT required"):
        compile_to_ptx(function, (types.int64,))


def raises(n):
    if n < 0:
        raise ValueError
    return n


def may_miss(n):
    return (1, 2, 3)[n]


def may_stand_still(n):
    total = 0
    for i in range(0, 9, n):
        total += i
    return total


def divides(n):
    return 7 // n + 7 % n


@pytest.mark.parametrize(
    ("function", "raising"),
    [(raises, True), (may_miss, True), (may_stand_still, True), (divides, False)],
)
def test_what_can_raise_is_seen_in_a_callee_too(
    function: Any, raising: bool, compile_to_ptx: Compile
) -> None:
    callee = numba.njit(function)
    assert can_raise(compile_to_ptx(lambda n: callee(n), (types.int64,))) is raising
