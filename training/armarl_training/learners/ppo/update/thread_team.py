"""Threads that share a minibatch. Each thread does all the work for the gradients of one part.

Torch would instead split each matrix product among its threads. All threads but one would wait
during the work between two products. In small networks this work takes most of the time.
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
    """Within this context, limit torch to the calling thread if `wanted`.

    Torch's own worker threads would compete with the other threads for cores. If another process
    used one of the cores, all threads would also wait for the thread on this core.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1 if wanted else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class ThreadTeam:
    """Threads that each run torch single-threaded. The calling thread is one of them.

    Attributes:
        number: number of threads.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool: ThreadPoolExecutor | None = None
        if number > 1:
            name = "armarl-team"
            self._pool = ThreadPoolExecutor(number - 1, name, lambda: torch.set_num_threads(1))

    def at_work(self) -> AbstractContextManager[None]:
        """Return a context within which torch uses no worker threads."""
        return torch_alone(self.number > 1)

    def map(self, function: Callable[[S], T], parts: Sequence[S]) -> list[T]:
        """Apply the function to each part in parallel, and return the results in order."""
        if self._pool is None:
            return [function(part) for part in parts]
        others = [self._pool.submit(function, part) for part in parts[1:]]
        own = [function(part) for part in parts[:1]]
        return own + [other.result() for other in others]
