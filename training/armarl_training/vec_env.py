"""Batches of games as a native SB3 `VecEnv`: one seat learns, players hold the others.

The learner sees only its own decisions: between two of them the others play, and its reward is its
own seat's return, whoever ended the game. That is what makes the loser's reward arrive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from armarl.core.game import Game
from armarl.core.verbs import CUT_SHORT
from armarl.devices.device import action_ids
from armarl.environments.action_masks import Endings
from armarl.environments.base import face_game, observation_box
from armarl.environments.batch_arguments import deal_numbers, random_numbers
from armarl.environments.registration import NAMESPACE
from armarl.environments.seat_batch import AgainstOpponents, SeatBatch, make_opponents
from armarl.players.registry import PlayerLike


def make_vec_env(
    env_id: str | Game,
    n_envs: int = 1,
    seed: int | None = None,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> SeatVecEnv:
    """Many games for MaskablePPO: `MaskablePPO("MlpPolicy", make_vec_env("armadora", 64))`.

    It takes SB3's own names for what both have, so that one can stand for the other.

    Args:
        env_id: one of our ids, `armarl/Armadora-3p-v0`, or a game or its name.
        n_envs: number of games.
        seed: the first reset deals game `i` from `seed + i`.
        env_kwargs, options: options of `armarl.seat_env.SeatEnv` (`opponents`, `seat`, `reward`,
            those of the game), in a mapping as SB3 has them, or as they are.

    Raises:
        TypeError: an unknown option, or options beside a `Game`.
        ValueError: no such id, a value out of range, or a wrong number of opponents.
    """
    name = env_id
    settings = {**(env_kwargs or {}), **options}
    if isinstance(env_id, str) and "/" in env_id:
        spec = _spec(env_id)
        settings = {**spec.kwargs, **settings}
        name = settings.pop("game")
    env = _vec_env(name, n_envs, **settings)
    env.seed(seed)
    return env


def _spec(env_id: str) -> Any:
    """What Gymnasium knows of an id of ours; a ValueError if it is none."""
    own = f"{NAMESPACE}/"
    if not env_id.startswith(own) or env_id not in gymnasium.registry:
        known = ", ".join(name for name in gymnasium.registry if name.startswith(own))
        raise ValueError(f"{env_id!r} is none of our ids: {known}")
    return gymnasium.registry[env_id]


def _vec_env(
    game: str | Game,
    n_envs: int,
    *,
    opponents: PlayerLike | Sequence[PlayerLike] = "random",
    seat: int | None = None,
    reward: str = "win",
    **options: Any,
) -> SeatVecEnv:
    if wrapping := options.keys() & {"wrapper_class", "vec_env_cls", "monitor_dir"}:
        raise TypeError(
            f"{', '.join(sorted(wrapping))}: the games of this batch are no environments of their "
            "own, to be wrapped one by one: wrap the batch (SB3's VecEnvWrapper), or use SB3's own "
            "make_vec_env with an id, as armarl/Armadora-v0"
        )
    game = face_game(game, options, "opponents, seat, reward")
    return SeatVecEnv(SeatBatch(game, n_envs, make_opponents(opponents, game), reward, seat))


class SeatVecEnv(AgainstOpponents, VecEnv):
    """Observations: flat float32 (num_envs, size); actions: Discrete, with `action_masks()`.

    A game that ends starts anew in the same step, as SB3 expects. An illegal action ends its game
    with -1 for the learner, as in every face. `seed(n)` makes the next `reset` deal game `i` from
    `n + i`.

    Attributes:
        refusals: by game, why the illegal actions of the last step were illegal.
        endings: how many episodes have ended, and by illegal actions.
    """

    render_mode = None  # SB3 warns of environments without it

    def __init__(self, batch: SeatBatch) -> None:
        self._batch, self.game = batch, batch.game
        self.lengths = np.zeros(batch.size, np.int64)  # the learner's decisions so far
        self._masks = np.empty((batch.size, len(batch.game.actions)), np.int8)
        self._actions: NDArray[np.int64] = np.zeros(batch.size, np.int64)
        self.refusals: dict[int, str] = {}
        self.endings = Endings(
            "Use MaskablePPO of sb3-contrib, which asks this VecEnv for masks; PPO reads none"
        )
        self._begun = False
        super().__init__(
            batch.size,
            observation_box(batch.game),
            gymnasium.spaces.Discrete(len(batch.game.actions)),
        )

    @property
    def batch(self) -> SeatBatch:
        """The games."""
        return self._batch

    def reset(self) -> NDArray[np.float32]:
        seeds = None if self._seeds[0] is None else deal_numbers(self._seeds, self.num_envs)
        if seeds is None and not self._begun:
            seeds = random_numbers(self.num_envs)
        self._reset_seeds()
        self.batch.open(np.arange(self.num_envs), seeds)
        self.lengths[:] = 0
        return self.observe()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the actions of the next `step_wait`.

        Raises:
            gymnasium.error.ResetNeeded: before `reset`.
            TypeError: the actions are no integers.
            ValueError: a wrong number of actions.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        self._actions = action_ids(actions, self.num_envs)

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        self.batch.answer(self._actions)
        self.lengths += 1
        ends = self.batch.ends != 0
        rewards = self.batch.rewards.astype(np.float32)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self.refusals = {}
        over = np.flatnonzero(ends)
        if over.size:
            finals, _masks = self.batch.final_views(over)
            for i, final in zip(over.tolist(), finals, strict=True):
                infos[i] = self._account(i, float(rewards[i]), final)
            self.refusals = self.batch.illegal_actions(self._actions)
            for i in self.refusals:
                infos[i]["illegal_action"] = np.int8(1)
            self.endings.note(over.size, len(self.refusals))
            self.batch.open(over)
            self.lengths[over] = 0
        return self.observe(), rewards, ends, infos

    def observe(self) -> NDArray[np.float32]:
        """The learner's observation of every game, (num_envs, size); the masks are kept."""
        self._begun = True  # by `reset`, or by a checkpoint's games
        observations = np.empty((self.num_envs, self.game.observation.size), np.float32)
        self.batch.view(observations, self._masks)
        return observations

    def action_masks(self) -> NDArray[np.int8]:
        """Masks of the learner's decisions, int8 (num_envs, actions), until the next step.

        Raises:
            gymnasium.error.ResetNeeded: before `reset`.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before action_masks()")
        return self._masks

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> Sequence[Any]:
        """MaskablePPO asks for `action_masks`; one array answers for all games."""
        if method_name != "action_masks":
            raise AttributeError(f"the batch has no per-game method {method_name!r}")
        masks = self.action_masks()
        return masks if indices is None else masks[self._get_indices(indices)]  # type: ignore[return-value]

    def has_attr(self, attr_name: str) -> bool:
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        if attr_name == "opponents":
            self.opponents = value  # which says why not
        raise AttributeError("the games of a batch have no attributes of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """As if each game were in a `Monitor`, since `infos` have its account of an episode."""
        return [wrapper_class is Monitor] * len(list(self._get_indices(indices)))

    def close(self) -> None:
        pass

    def _account(self, i: int, reward: float, final: NDArray[np.float32]) -> dict[str, Any]:
        """SB3's account of a game that has ended."""
        return {
            "terminal_observation": final,
            "TimeLimit.truncated": bool(self.batch.ends[i] == CUT_SHORT),
            "episode": {"r": reward, "l": int(self.lengths[i]), "t": 0.0},
        }
