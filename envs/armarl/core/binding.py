"""Compile functions that are written once for all games, for one particular game.

Such a function uses the name `verbs` (imported from `armarl.core.verbs`), or calls a function that
does. For a game, a copy of it is compiled whose `verbs` are that game's own. (A closure would do
the same, but Numba's disk cache cannot store a closure over compiled functions.)
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from armarl.compiler import work_sharing
from armarl.compiler.decorators import kernel, merged
from armarl.compiler.work_sharing import Body
from armarl.core.verbs import Verbs, takes_fixed, verbs

F = TypeVar("F", bound=Callable[..., Any])


class Compiler(Protocol):
    """Compile a plain function. With `merge` the function becomes part of its only caller."""

    def __call__(self, function: Any, /, *, merge: bool = False) -> Any: ...


def compile_for_cpu(function: Any, *, merge: bool = False) -> Any:
    """Compile a function as a kernel, or as a part of one."""
    return merged(function) if merge else kernel(function)


class Binding:
    """The generic functions for one game, each compiled on first request."""

    def __init__(
        self,
        game: str,
        its_verbs: Verbs,
        compiler: Compiler = compile_for_cpu,
        instead: Mapping[Callable[..., Any], Callable[..., Any]] | None = None,
        *,
        fixed: bool = False,
    ) -> None:
        """Create a binding. Nothing is compiled yet.

        Args:
            game: the game's name.
            its_verbs: the game's verbs.
            compiler: the compiler of functions. For a GPU it is that of `numba.cuda`, with its own
                verbs.
            instead: functions to replace, with their replacements.
            fixed: whether the game has a record `fixed`.
        """
        self._adapter = _with_fixed if fixed else _without_fixed
        self._game, self.verbs, self._compiler = game, its_verbs, compiler
        self._instead = instead or {}
        # The key contains `merge`, so the result does not depend on the order of first calls.
        self._functions: dict[tuple[Callable[..., Any], bool], Any] = {}
        self._drivers: dict[Body, Any] = {}

    def function(self, function: F, *, merge: bool = False) -> F:
        """Return `function` compiled with the game's verbs."""
        found = self._functions.get((function, merge))
        if found is None:
            made = self._compile(function, merge)  # if two threads race, the first one's is kept
            found = self._functions.setdefault((function, merge), made)
        return cast(F, found)

    def driver(self, body: Body) -> Callable[..., None]:
        """Return `work_sharing.take_shares` for a body, compiled with the game's verbs."""
        found = self._drivers.get(body)
        if found is None:
            name = f"{self._game}_{_name(body)}_shared"
            found = _copy(work_sharing.take_shares, name, {"body": self.body(body, merge=True)})
            found = self._drivers.setdefault(body, self._compiler(found))
        return cast("Callable[..., None]", found)

    def body(self, body: Body, *, merge: bool = False) -> Body:
        """Return a body compiled with the game's verbs, without the parameter `fixed`.

        If it had the parameter and the game has such a record, it takes as its batch a pair: the
        batch, and an array of that record.
        """
        inner = self.function(body, merge=merge)
        if not takes_fixed(body):
            return inner
        name = f"{self._game}_{_name(body)}_with_fixed"
        adapted = self._compiler(_copy(self._adapter, name, {"body": inner}), merge=merge)
        return cast(Body, adapted)

    def _compile(self, function: Callable[..., Any], merge: bool) -> Any:
        known: dict[str, Any] = {"verbs": self.verbs}
        for name in function.__code__.co_names:
            value: Any = function.__globals__.get(name)
            if value is not function and _is_unbound(value):
                known[name] = self.function(self._instead.get(value, value), merge=merge)
        copy = _copy(function, f"{self._game}_{_name(function)}", known)
        return self._compiler(copy, merge=merge)


def _with_fixed(pair: Any, i: int, thread: int) -> None:
    body(pair[0], i, thread, (pair[1][0],))


def _without_fixed(batch: Any, i: int, thread: int) -> None:
    body(batch, i, thread, ())


def body(batch: Any, i: int, thread: int, fixed: Any) -> None:
    """A placeholder for the body that the functions above are compiled with."""
    raise NotImplementedError


def _is_unbound(value: Any) -> bool:
    """Return whether a value is a function of a module that is written for all games."""
    return inspect.isfunction(value) and value.__globals__.get("verbs") is verbs


def _name(function: Any) -> str:
    return f"{function.__module__.rpartition('.')[2]}_{function.__name__}"


def _copy(function: Callable[..., Any], name: str, known: dict[str, Any]) -> Callable[..., Any]:
    """Copy a function under a new name, which the disk cache uses, with `known` in its globals."""
    copy = types.FunctionType(function.__code__, {**function.__globals__, **known})
    copy.__name__ = copy.__qualname__ = name
    copy.__defaults__, copy.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return copy
