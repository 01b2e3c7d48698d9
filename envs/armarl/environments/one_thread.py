"""A guard that lets one thread at a time call an environment. Other threads get a RuntimeError.

Compiled loops run without the interpreter's lock. Without this guard, two threads could play one
game at the same time and leave a state that breaks the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
IN_USE = "another thread is using this environment; use an environment from one thread at a time"


class AtWork(dict[str, int]):
    """A dictionary with the id of the thread that is using an environment, under "thread".

    It is empty if no thread is using the environment. A copy is empty, because no thread is using
    the copied environment yet.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return AtWork, ()


def alone(method: F) -> F:
    """Make a method raise RuntimeError while another thread is using the same environment.

    The attribute `_at_work` of the environment must be an `AtWork`. A thread that is running a
    guarded method may call other guarded methods from within it. For example, an opponent may look
    at the environment in which it plays.
    """

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        at_work, this = self._at_work, get_ident()
        within = at_work.get("thread") == this
        if at_work.setdefault("thread", this) != this:  # an atomic operation
            raise RuntimeError(IN_USE)
        try:
            return method(self, *args, **kwargs)
        finally:
            if not within:
                at_work.clear()

    return cast(F, guarded)
