"""An SB3 VecEnv that takes no time. Observations and masks are constant, and no episode ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv


class FreeVecEnv(VecEnv):
    """A VecEnv with constant random observations. A tenth of the actions are legal."""

    render_mode = None  # SB3 warns about environments without this attribute

    def __init__(
        self, size: int, low: NDArray[np.float32], high: NDArray[np.float32], actions: int
    ) -> None:
        rng = np.random.default_rng(0)
        self._observations = rng.uniform(low, high, (size, low.size)).astype(np.float32)
        self._masks = (rng.random((size, actions)) < 0.1).astype(np.int8)
        self._masks[:, 0] = 1
        self._rewards = np.zeros(size, np.float32)
        self._dones = np.zeros(size, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(size)]
        super().__init__(
            size,
            gymnasium.spaces.Box(low, high, dtype=np.float32),
            gymnasium.spaces.Discrete(actions),
        )

    def reset(self) -> NDArray[np.float32]:
        return self._observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        pass

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        return self._observations, self._rewards, self._dones, self._infos

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> Sequence[Any]:
        assert method_name == "action_masks"
        return self._masks  # type: ignore[return-value]

    def has_attr(self, attr_name: str) -> bool:
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError(f"{attr_name}: attributes of a free environment cannot be set")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs

    def close(self) -> None:
        pass
