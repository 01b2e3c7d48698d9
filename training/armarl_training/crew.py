"""Threads that share a minibatch: each works out the gradients of a part, from reading it on.

Torch would share each product of matrices among its threads, and let all but one wait for whatever
lies between two of them; so two threads of a crew take little more than half of the time of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

T = TypeVar("T")


class Crew:
    """Threads for each of which torch computes on that thread alone.

    Attributes:
        number: of threads; of one the caller is all there is.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool: ThreadPoolExecutor | None = None
        if number > 1:
            name = "armarl-crew"
            self._pool = ThreadPoolExecutor(number, name, lambda: torch.set_num_threads(1))

    def map(self, function: Callable[..., T], *columns: Iterable[object]) -> list[T]:
        """What the function returns of each row, in order."""
        return list((self._pool or _Caller).map(function, *columns))


class _Caller:
    """The thread that calls."""

    map = staticmethod(map)
