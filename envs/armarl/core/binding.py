"""Compile the functions that all games share, for one particular game.

A shared function may use the global name `verbs` (imported from `armarl.core.verbs`), or call a
function that uses this name. If so, a copy of the function is compiled for each game, in which
`verbs` are the verbs of that game. (A closure would also work, but Numba's disk cache cannot store
a closure over compiled functions.) A function that uses no verbs is compiled once for all games.

A *body* is a function that does the work for one game of a batch (`armarl.core.batch_loops`). Its
*driver* is the compiled loop that calls it for many games.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol, TypeVar, cast

from armarl.compiler import work_sharing
from armarl.compiler.decorators import kernel, merged
from armarl.compiler.work_sharing import Body
from armarl.core.verbs import Verbs, takes_fixed, verbs

F = TypeVar("F", bound=Callable[..., Any])


class Compiler(Protocol):
    """A function that compiles functions. With `merge`, it merges them into their only caller."""

    def __call__(self, function: Any, /, *, merge: bool = False) -> Any: ...


def compile_for_cpu(function: Any, *, merge: bool = False) -> Any:
    """Compile a function as a kernel or, with `merge`, merge it into its only caller."""
    return merged(function) if merge else kernel(function)


class Binding:
    """The functions that all games share, compiled for one game, each when it is first needed."""

    def __init__(
        self,
        game: str,
        its_verbs: Verbs,
        compiler: Compiler = compile_for_cpu,
        instead: Mapping[Callable[..., Any], Callable[..., Any]] | None = None,
        *,
        fixed: bool = False,
        common: Binding | None = None,
    ) -> None:
        """Create a binding. Nothing is compiled yet.

        Args:
            game: the game's name.
            its_verbs: the game's verbs.
            compiler: the function that compiles. For a GPU it uses `numba.cuda`, and `its_verbs`
                must be compiled for the GPU too.
            instead: functions to replace before compilation, with their replacements.
            fixed: whether the game has a record `fixed`.
            common: the binding that compiles functions that use no verbs. None means this binding.
        """
        self._adapter = _with_fixed if fixed else _without_fixed
        self._game, self.verbs, self._compiler = game, its_verbs, compiler
        self._instead, self._common = instead or {}, common
        # The key contains `merge`, so the result does not depend on the order of first calls.
        self._functions: dict[tuple[Callable[..., Any], bool], Any] = {}
        self._drivers: dict[Body, Any] = {}

    def function(self, function: F, *, merge: bool = False) -> F:
        """Return `function` compiled with the game's verbs."""
        if self._common and not _uses_verbs(function):
            return self._common.function(function, merge=merge)
        found = self._functions.get((function, merge))
        if found is None:
            made = self._compile(function, merge)  # if two threads race, the first result is kept
            found = self._functions.setdefault((function, merge), made)
        return cast(F, found)

    def driver(self, body: Body) -> Callable[..., None]:
        """Return a body's driver: `work_sharing.take_shares`, compiled with the game's verbs."""
        if self._common and not _uses_verbs(body) and not takes_fixed(body):
            return self._common.driver(body)
        found = self._drivers.get(body)
        if found is None:
            name = f"{self._game}_{_name(body)}_shared"
            found = _copy(work_sharing.take_shares, name, {"body": self.body(body, merge=True)})
            found = self._drivers.setdefault(body, self._compiler(found))
        return cast("Callable[..., None]", found)

    def body(self, body: Body, *, merge: bool = False) -> Body:
        """Return a body compiled with the game's verbs, without the parameter `fixed`.

        If the body has this parameter and the game has a record `fixed`, the returned function
        takes a pair in place of the batch: the body's batch, and an array with that record.
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
    """Raise NotImplementedError. Compiled functions call the actual body instead."""
    raise NotImplementedError


def _is_unbound(value: Any) -> bool:
    """Return whether a value is a function of a module that imports the placeholder `verbs`."""
    return inspect.isfunction(value) and value.__globals__.get("verbs") is verbs


@cache
def _uses_verbs(function: Callable[..., Any]) -> bool:
    """Return whether a function uses the verbs of a game, or calls a function that does."""
    used = [function.__globals__.get(name) for name in function.__code__.co_names]
    return any(value is verbs for value in used) or any(
        _uses_verbs(value) for value in used if value is not function and _is_unbound(value)
    )


def _name(function: Any) -> str:
    return f"{function.__module__.rpartition('.')[2]}_{function.__name__}"


def _copy(function: Callable[..., Any], name: str, known: dict[str, Any]) -> Callable[..., Any]:
    """Copy a function under a new name, which the disk cache uses, with `known` in its globals."""
    copy = types.FunctionType(function.__code__, {**function.__globals__, **known})
    copy.__name__ = copy.__qualname__ = name
    copy.__defaults__, copy.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return copy
