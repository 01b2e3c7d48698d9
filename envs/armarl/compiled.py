"""How the rules are compiled: one decorator, one cache (`kernel_cache`), one announcement."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event

from armarl.kernel_cache import keep, say


def kernel(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """Compile a rule on first use. Kernels use no allocation, no exception and no Python object."""
    return keep(numba.njit(nogil=True, error_model="numpy", forceinline=inline)(function))


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that is compiled into its callers, for what innermost loops call.

    A call hands over seven numbers for each array, and counts references to it. But it is compiled
    again in each of them: mind the time of the first use.
    """
    return kernel(function, inline=True)


def specialise(template: Callable[..., Any], name: str, verbs: dict[str, Any]) -> Any:
    """Compile a loop that is written once for every game, with one game's verbs in place.

    A closure would do the same, but Numba cannot cache a closure over compiled functions.
    """
    copy = types.FunctionType(template.__code__, {**template.__globals__, **verbs})
    copy.__name__ = copy.__qualname__ = name  # by which the cache knows it
    return kernel(copy)


class _Announcement(event.Listener):  # type: ignore[misc]
    """Says on stderr, once per process, that kernels are not in the cache and are compiled."""

    made = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__ or ""  # made by `exec`: it has none
        if not self.made and module.startswith("armarl."):
            self.made = True
            say("compiling the rules for this machine (once; 10 to 40 seconds) ...")

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcement())
