"""Random legal actions for environments that a Python loop steps in batches."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


class Sampler:
    """A compiled sampler of random legal actions, which costs little time."""

    def __init__(self, batch: int) -> None:
        self._rng = np.random.default_rng(0)
        self._actions = np.zeros(batch, np.int64)

    def __call__(self, masks: NDArray[Any]) -> NDArray[np.int64]:
        """Return a random legal action for each game. `masks` has shape (batch, actions).

        The action is 0 if none is legal. The next call overwrites the returned array.
        """
        _pick(masks.view(np.int8), self._rng.random(len(masks)), self._actions)
        return self._actions


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def _pick(masks: Any, draws: Any, actions: Any) -> None:
    for i in range(masks.shape[0]):
        legal = 0
        for action in range(masks.shape[1]):
            legal += masks[i, action]
        left = int(draws[i] * legal)
        actions[i] = 0
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if left == 0:
                    actions[i] = action
                    break
                left -= 1
