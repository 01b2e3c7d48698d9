"""Batches of games as a native SB3 `VecEnv`: one seat learns, and players take the other seats.

The learner sees only its own decisions. The other seats play between these decisions. The learner's
reward is the return of its own seat, even if another seat ended the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from armarl.common.numbers import whole_number
from armarl.core.game import Game
from armarl.core.verbs import PLAYING
from armarl.devices.device import action_ids
from armarl.environments.action_masks import Endings
from armarl.environments.base import face_game, observation_box
from armarl.environments.batch_arguments import deal_numbers, random_numbers
from armarl.environments.one_thread import AtWork, alone
from armarl.environments.registration import NAMESPACE
from armarl.environments.seat_batch import AgainstOpponents, SeatBatch, make_opponents
from armarl.players.registry import PlayerLike

_OPTIONS = "n_envs, seed, env_kwargs, opponents, seat, reward, max_episode_steps"


def make_vec_env(
    env_id: str | Game,
    n_envs: int = 1,
    seed: int | None = None,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> SeatVecEnv:
    """Create a batch of games as an SB3 `VecEnv` with action masks, for MaskablePPO.

    Use it as `MaskablePPO("MlpPolicy", make_vec_env("armadora", 64))`. The parameters have the same
    names as in SB3's `make_vec_env`, so this function can replace it.

    Args:
        env_id: an ArmaRL id such as `armarl/Armadora-3p-v0`, the name of a game, or a `Game`.
        n_envs: number of games.
        seed: the first reset uses the seed `seed + i` for game `i`, and checks it. None: random
            seeds, from NumPy's global generator as in SB3.
        env_kwargs: options of `armarl.environments.seat_env.SeatEnv` (`opponents`, `seat`, `reward`
            and the options of the game) and `max_episode_steps`, as a dictionary as in SB3.
        options: further options of these kinds, as keyword arguments. Options replace those that an
            id contains.

    Returns:
        The vector environment. Observations are float32, shape (n_envs, size).

    Raises:
        TypeError: an option is unknown or given twice, a `Game` was given with options, or a value
            has the wrong type.
        ValueError: the id is unknown, a value is out of range, an opponent is unknown, or the
            number of opponents is wrong.

    Example:
        >>> from armarl_training import make_vec_env
        >>> env = make_vec_env("armadora", 2, seed=7, players=3, opponents="greedy")
        >>> observations = env.reset()
        >>> observations.dtype, observations.shape == (2, env.game.observation.size)
        (dtype('float32'), True)
        >>> env.action_masks().shape == (2, env.action_space.n)
        True
    """
    name = env_id
    for option in options:
        if option in (env_kwargs or {}):
            raise TypeError(
                f"the option {option} is given twice: as a keyword argument and in env_kwargs"
            )
    settings = {**(env_kwargs or {}), **options}
    if isinstance(env_id, str) and "/" in env_id:
        spec = _spec(env_id)
        settings = {**spec.kwargs, **settings}
        name = settings.pop("game")
    env = _vec_env(name, n_envs, **settings)
    env.seed(seed)
    return env


def _spec(env_id: str) -> Any:
    """Return the Gymnasium spec of an ArmaRL id. Raise ValueError for any other id."""
    own = f"{NAMESPACE}/"
    if not env_id.startswith(own) or env_id not in gymnasium.registry:
        known = ", ".join(name for name in gymnasium.registry if name.startswith(own))
        raise ValueError(f"unknown id {env_id!r}; choose from {known}")
    return gymnasium.registry[env_id]


def _vec_env(
    game: str | Game,
    n_envs: int,
    *,
    opponents: PlayerLike | Sequence[PlayerLike] = "random",
    seat: int | None = None,
    reward: str = "win",
    max_episode_steps: int | None = None,
    **options: Any,
) -> SeatVecEnv:
    if wrapping := options.keys() & {"wrapper_class", "vec_env_cls", "monitor_dir"}:
        raise TypeError(
            f"{', '.join(sorted(wrapping))}: the games of this batch are not separate environments "
            "that could be wrapped one by one; wrap the batch (SB3's VecEnvWrapper), or use SB3's "
            "own make_vec_env with an id such as armarl/Armadora-v0"
        )
    game = face_game(game, options, _OPTIONS)
    batch = SeatBatch(game, n_envs, make_opponents(opponents, game), reward, seat)
    return SeatVecEnv(batch, max_episode_steps)


class SeatVecEnv(AgainstOpponents, VecEnv):
    """A batch of games as an SB3 vector environment; one seat of each game learns.

    Observations are flat float32 arrays, shape (num_envs, size). Actions are `Discrete`, with the
    masks of `action_masks()`. A game that ends is reset in the same step, as SB3 expects. An
    illegal action ends its game with reward -1 for the learner, as in ArmaRL's Gymnasium
    environments. `infos[i]["TimeLimit.truncated"]` is True only if `max_episode_steps` has cut off
    the game. SB3 adds its critic's value to the return only in this case.

    `seed(n)` makes the next `reset` use the seed `n + i` for game `i`. Use `make_vec_env` to create
    this environment.

    Only one thread at a time may use an environment. A call during another thread's call raises
    RuntimeError. An error of an opponent leaves games half played. Until `reset` after `seed(n)`,
    further steps and resets raise RuntimeError.

    Attributes:
        game: the variant that is played.
        refusals: the reason why an action of the last step was illegal, by the game's index.
        endings: counts of all ended episodes and of episodes that ended with an illegal action.

    Example:
        >>> import numpy as np
        >>> from armarl_training import make_vec_env
        >>> env = make_vec_env("armadora", 2, seed=7)
        >>> _ = env.reset()
        >>> actions = env.action_masks().argmax(axis=1)  # the first legal action of each game
        >>> observations, rewards, ends, infos = env.step(actions)
        >>> rewards.shape, ends.tolist()
        ((2,), [False, False])
    """

    render_mode = None  # SB3 warns about environments without this attribute

    def __init__(self, batch: SeatBatch, max_episode_steps: int | None = None) -> None:
        """Wrap a batch of games.

        Args:
            batch: the games.
            max_episode_steps: number of the learner's decisions after which an episode is
                truncated. None: no limit.

        Raises:
            TypeError: `max_episode_steps` is not an integer.
            ValueError: `max_episode_steps` is out of range.
        """
        self._batch, self.game = batch, batch.game
        limit = max_episode_steps
        self._limit = None if limit is None else whole_number("max_episode_steps", limit, 1, 2**31)
        self.lengths = np.zeros(batch.size, np.int64)  # decisions in each episode
        self._masks = np.empty((batch.size, len(batch.game.actions)), np.int8)
        self._actions: NDArray[np.int64] = np.zeros(batch.size, np.int64)
        self.refusals: dict[int, str] = {}
        self.endings = Endings(
            "Use MaskablePPO of sb3-contrib, which reads this VecEnv's masks; PPO ignores them"
        )
        self._begun = False
        self._at_work = AtWork()
        super().__init__(
            batch.size,
            observation_box(batch.game),
            gymnasium.spaces.Discrete(len(batch.game.actions)),
        )

    @property
    def batch(self) -> SeatBatch:
        """The batch of games."""
        return self._batch

    @alone
    def reset(self) -> NDArray[np.float32]:
        """Deal new games and return the learner's observations, float32 (num_envs, size).

        Raises:
            TypeError: a seed is not an integer.
            ValueError: a seed is below -2**63.
            IllegalActionError: an opponent chose an illegal action.
            RuntimeError: an opponent failed earlier, and there are no seeds.
        """
        seeds = None if self._seeds[0] is None else deal_numbers(self._seeds, self.num_envs)
        if seeds is None and not self._begun:
            seeds = random_numbers(self.num_envs)
        self._reset_seeds()
        self.batch.open(np.arange(self.num_envs), seeds)
        self.lengths[:] = 0
        return self.observe()

    @alone
    def step(self, actions: NDArray[np.int64]) -> Any:
        """Play the actions of all games: `step_async`, then `step_wait`.

        Args:
            actions: action ids, integers, shape (num_envs,).

        Returns:
            As from `step_wait`.

        Raises:
            gymnasium.error.ResetNeeded, TypeError, ValueError: as in `step_async`.
            IllegalActionError, RuntimeError: as in `step_wait`.
        """
        return super().step(actions)

    @alone
    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Set the actions of the next `step_wait`.

        Raises:
            gymnasium.error.ResetNeeded: `reset` was not called yet.
            TypeError: the actions are not integers.
            ValueError: the number of actions is wrong.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        self._actions = action_ids(actions, self.num_envs)

    @alone
    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions, and then the other seats until the learner's next decision.

        Returns:
            Observations, float32 (num_envs, size), rewards, float32 (num_envs,), ends, bool
            (num_envs,), and infos, a dictionary per game. Games that ended are already reset. Their
            infos have the keys "terminal_observation", "TimeLimit.truncated" and "episode" of SB3
            and, after an illegal action, "illegal_action".

        Raises:
            IllegalActionError: an opponent chose an illegal action.
            RuntimeError: an opponent failed earlier, or another thread is using the environment.
        """
        self.batch.answer(self._actions)
        self.lengths += 1
        ends = self.batch.ends != PLAYING
        if self._limit is not None:
            ends |= self.lengths >= self._limit
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

    @alone
    def observe(self) -> NDArray[np.float32]:
        """Return the learner's observation of every game, (num_envs, size), and store the masks."""
        self._begun = True  # `reset` has dealt the games, or a checkpoint has restored them
        observations = np.empty((self.num_envs, self.game.observation.size), np.float32)
        self.batch.view(observations, self._masks)
        return observations

    def action_masks(self) -> NDArray[np.int8]:
        """Return the action mask of every game, int8 (num_envs, actions).

        The array is overwritten by the next step.

        Raises:
            gymnasium.error.ResetNeeded: `reset` was not called yet.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before action_masks()")
        return self._masks

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> Sequence[Any]:
        """Return the masks if the method is `action_masks`, the only one that MaskablePPO calls.

        Args:
            method_name: "action_masks".
            indices: the games, None for all.
            args, kwargs: ignored.

        Raises:
            AttributeError: the method has another name.
        """
        if method_name != "action_masks":
            raise AttributeError(
                f"the games of a batch have no method {method_name!r}, only 'action_masks'"
            )
        masks = self.action_masks()
        return masks if indices is None else masks[self._get_indices(indices)]  # type: ignore[return-value]

    def has_attr(self, attr_name: str) -> bool:
        """Return whether the batch has this attribute."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the batch, once for each game in `indices` (None: all games).

        Raises:
            AttributeError: there is no such attribute.
        """
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse to set an attribute.

        Raises:
            AttributeError: always. The games of a batch have no separate attributes.
        """
        if attr_name == "opponents":
            self.opponents = value  # this raises an error with the reason
        raise AttributeError(
            f"cannot set {attr_name!r}: the games of a batch have no separate attributes"
        )

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return True for `Monitor` only, because `infos` already has Monitor's episode entry."""
        return [wrapper_class is Monitor] * len(list(self._get_indices(indices)))

    def close(self) -> None:
        """Do nothing. There is nothing to close."""

    def _account(self, i: int, reward: float, final: NDArray[np.float32]) -> dict[str, Any]:
        """Return the info entries that SB3 expects for a game that has ended."""
        return {
            "terminal_observation": final,
            "TimeLimit.truncated": bool(self.batch.ends[i] == PLAYING),
            "episode": {"r": reward, "l": int(self.lengths[i]), "t": 0.0},
        }
