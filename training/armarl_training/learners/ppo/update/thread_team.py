"""Threads that share a minibatch: each works out the gradients of a part, from reading it on.

Torch would share each product of matrices among its threads, and have all but one wait for whatever
lies between two of them, which in small networks is most of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import torch

S = TypeVar("S")
T = TypeVar("T")


@contextmanager
def torch_alone(wanted: bool) -> Iterator[None]:
    """Meanwhile torch computes on the thread that calls, if so wanted.

    Threads of its own would look out for work in the way of others, and where somebody else has
    their core everything waits for them.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1 if wanted else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Crew:
    """Threads for each of which torch computes on that thread alone; the caller is one of them.

    Attributes:
        number: of threads.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool: ThreadPoolExecutor | None = None
        if number > 1:
            name = "armarl-crew"
            self._pool = ThreadPoolExecutor(number - 1, name, lambda: torch.set_num_threads(1))

    def at_work(self) -> AbstractContextManager[None]:
        """Meanwhile torch has no threads of its own."""
        return torch_alone(self.number > 1)

    def map(self, function: Callable[[S], T], parts: Sequence[S]) -> list[T]:
        """What the function returns of each part, in order."""
        if self._pool is None:
            return [function(part) for part in parts]
        others = [self._pool.submit(function, part) for part in parts[1:]]
        own = [function(part) for part in parts[:1]]
        return own + [other.result() for other in others]
