"""Gymnasium vector environments: batches of single-seat environments that run in compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.compiler.types import State
from armarl.core.game import Game
from armarl.core.pictures.sheet import WIDTH
from armarl.core.verbs import ILLEGAL, PLAYING
from armarl.devices.device import action_ids
from armarl.environments.action_masks import Endings, mask_place
from armarl.environments.base import (
    RENDER_FPS,
    batched,
    check_render_mode,
    check_render_width,
    face_game,
    modes_of,
    np_random_seed,
    reset_options,
)
from armarl.environments.batch_arguments import (
    as_autoreset_mode,
    chosen_games,
    deal_numbers,
    refuse_games_over,
)
from armarl.environments.one_thread import AtWork, alone
from armarl.environments.seat_batch import AgainstOpponents, SeatBatch, make_opponents
from armarl.environments.seat_env import INFO_KEYS
from armarl.players.registry import PlayerLike

Infos = dict[str, Any]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]


class SeatVectorEnv(AgainstOpponents, gymnasium.vector.VectorEnv[Any, NDArray[np.int64], Any]):
    """A batch of `SeatEnv`s, with the same results as a `SyncVectorEnv` of them, byte for byte.

    Observations are float32 of shape (num_envs, size). Infos are arrays with a row per game. For
    each key, the array under `_key` marks the valid rows. The keys are `action_mask`, int8
    (num_envs, actions), all 1 where a game is over and its action is ignored; `seat`, int64; and
    `illegal_action`, int8, 1 where an illegal action has ended the episode with reward -1. With
    `mask="observation"` the observation is a dictionary of the observations and the masks. With
    autoreset SAME_STEP, the last observation and info of an episode are in `final_obs` and
    `final_info`.

    Only one thread at a time may use a batch. A call during another thread's call raises
    RuntimeError. An error of an opponent leaves games half played. Until all games are reset with
    seeds, further steps and resets raise RuntimeError.

    Attributes:
        refusals: the reason for each illegal action of the last step, by game index.
        endings: counts of all ended episodes and of episodes that ended with an illegal action.

    Example:
        >>> from armarl import SeatVectorEnv
        >>> envs = SeatVectorEnv("armadora", num_envs=3, opponents="greedy", seat=0)
        >>> observations, infos = envs.reset(seed=1)
        >>> observations.shape, infos["action_mask"].shape
        ((3, 576), (3, 229))
        >>> observations, rewards, ended, cut, infos = envs.step(infos["action_mask"].argmax(1))
        >>> rewards.tolist()
        [0.0, 0.0, 0.0]
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        *,
        opponents: PlayerLike | Sequence[PlayerLike] = "random",
        seat: int | None = None,
        reward: str = "win",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        mask: str = "info",
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        render_width: int = WIDTH,
        **options: Any,
    ) -> None:
        """Create the environments. Call `reset` before playing.

        Args:
            game, opponents, seat, reward, mask, observation_key, mask_key, render_width, options:
                as for `SeatEnv`.
            render_mode: None, "ansi" or "rgb_array", as for `SeatEnv`.
            num_envs: the number of games.
            autoreset_mode: Gymnasium's mode. With NEXT_STEP the step after the end of an episode
                ignores its action and begins the next episode. With SAME_STEP the step that ends
                an episode also begins the next one. With DISABLED only
                `reset(options={"reset_mask": ...})` begins episodes.
            copy: True returns new arrays of observations and masks in every step. False reuses the
                same arrays.
            max_episode_steps: the number of the learner's decisions after which an episode is
                truncated. None: no limit.

        Raises:
            TypeError, ValueError: as in `SeatEnv`, or the autoreset mode is unknown.
        """
        own = (
            "opponents, seat, reward, autoreset_mode, copy, render_mode, max_episode_steps, mask, "
            "observation_key, mask_key, render_width"
        )
        game = face_game(game, options, own)
        modes = modes_of(game)[1:]  # without "human", because a window shows only one game
        check_render_mode(render_mode, modes)
        self._batch = SeatBatch(game, num_envs, make_opponents(opponents, game), reward, seat)
        self.game, self.num_envs, self.render_mode = game, num_envs, render_mode
        self.__dict__.update(game.attributes)
        self.autoreset_mode = as_autoreset_mode(autoreset_mode)
        self.metadata = {
            "autoreset_mode": self.autoreset_mode,
            "render_modes": list(modes),
            "render_fps": RENDER_FPS,
        }
        self._render_width = check_render_width(render_width)
        self._before = self._batch.states.copy() if render_mode == "rgb_array" else None
        self._fresh = np.ones(num_envs, np.bool_)  # True for a game that no step has changed yet
        # The final positions of games that the last step ended and reset (SAME_STEP).
        self._ended: dict[int, tuple[State, int, State | None]] = {}
        self._place = mask_place(mask, observation_key, mask_key, taken=INFO_KEYS)
        self.single_observation_space = self._place.space(game)
        self.single_action_space = gymnasium.spaces.Discrete(len(game.actions))
        self.observation_space = batched(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.refusals: dict[int, str] = {}
        self.endings = Endings()
        limit = max_episode_steps
        some = limit is not None
        self._limit = whole_number("max_episode_steps", limit, 1, 2**31) if some else 0  # 0: none
        self._lengths = np.zeros(num_envs, np.int64)  # decisions so far, if there is a limit
        self._copy = copy
        self._at_work = AtWork()
        self._begun = False
        self._new_buffers()

    @alone
    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, Infos]:
        """Begin episodes and play each to the learning seat's first decision.

        A game that ends before this decision is replaced by a new one.

        Args:
            seed: an integer, which deals game `i` from `seed + i`, or a sequence, which deals it
                from `seed[i]`. Without a seed the random number generators continue.
            options: "reset_mask", bool of shape (num_envs,), selects the games to reset. Without it
                all games are reset. Observations and infos always cover all games.

        Raises:
            TypeError: a seed is not an integer, or the options are not a dictionary.
            ValueError: the number of seeds is wrong, a seed is below -2**63, the mask is wrong, or
                the first call does not reset all games.
            IllegalActionError: an opponent chose an illegal action.
            RuntimeError: an opponent failed earlier, and not all games are reset with seeds.
        """
        seeds = deal_numbers(seed, self.num_envs)
        super().reset(seed=np_random_seed(seed))
        games = chosen_games(reset_options(options).get("reset_mask"), self.num_envs)
        if not self._begun and games.size < self.num_envs:
            raise ValueError(
                f"the first reset must reset all {self.num_envs} games, not only {games.size}"
            )
        if seeds is None and not self._begun:
            seeds = self.np_random.integers(2**63, size=self.num_envs)
        self._begun = True
        self.refusals = {}
        self._ended = {}
        self._batch.open(games, None if seeds is None else seeds[games])
        self._fresh[games] = True
        self._lengths[games] = 0
        self._show()
        return self._observed(), self._infos(np.zeros(self.num_envs, np.int8))

    @alone
    def step(self, actions: NDArray[np.integer[Any]]) -> tuple[Any, Floats, Bools, Bools, Infos]:
        """Play the learning seat's action in every game, then the opponents' actions.

        Args:
            actions: action ids, integers, shape (num_envs,).

        Returns:
            Observations, rewards, float64 (num_envs,), terminations and truncations, bool
            (num_envs,), and infos.

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called, or autoreset is disabled and a
                game is over.
            TypeError: the actions are not integers.
            ValueError: the number of actions is wrong.
            IllegalActionError: an opponent chose an illegal action.
            RuntimeError: an opponent failed earlier, or another thread is using the batch.
        """
        batch, same_step = self._batch, self.autoreset_mode is AutoresetMode.SAME_STEP
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if self.autoreset_mode is AutoresetMode.DISABLED:
            refuse_games_over(batch.over)
        ids = action_ids(actions, self.num_envs)
        over_before = np.flatnonzero(batch.over)
        if self._before is not None:
            self._before[:] = batch.states
            self._fresh[:] = False
        batch.answer(ids)
        terminations = batch.ends != PLAYING
        late = self._late(over_before) if self._limit else None
        truncations = np.zeros(self.num_envs, np.bool_) if late is None else late.copy()
        ended = np.flatnonzero(terminations | truncations)
        illegal = (batch.ends == ILLEGAL).view(np.int8)
        finals: Infos = {}
        self.refusals = {}
        if ended.size:
            self.refusals = batch.illegal_actions(ids)
            self.endings.note(ended.size, len(self.refusals))
            if same_step:
                finals, illegal = self._finals(ended, illegal), np.zeros_like(illegal)
        begun = ended if same_step else over_before
        self._ended = self._scenes(begun) if same_step and self.render_mode else {}
        batch.open(begun)
        if self._before is not None:
            self._fresh[begun] = True
        self._show()
        if late is not None:
            self._lengths[begun] = 0
            if not same_step:
                batch.over |= late
        infos = {**self._infos(illegal), **finals}
        return self._observed(), batch.rewards.copy(), terminations, truncations, infos

    def _late(self, over_before: NDArray[np.int64]) -> Bools:
        """Mark the games that reached `max_episode_steps` in this step."""
        self._lengths += 1
        late: Bools = self._lengths >= self._limit
        late[over_before] = False
        return late

    @alone
    def action_masks(self) -> NDArray[np.int8]:
        """Return a copy of the action masks of the learning seats, int8 (num_envs, actions).

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before action_masks()")
        return self._batch.legal.copy()

    @alone
    def render(self) -> tuple[Any, ...] | None:
        """Return the boards as text or pixels. Each shows only what its learning seat may know.

        With autoreset SAME_STEP, a game that ended in the last step is shown at its end, so that a
        video includes the end. The next game is shown from its second observation on.

        Returns:
            Text for "ansi", and uint8 (height, width, 3) for "rgb_array", for each game. Without a
            render mode, None with a warning.

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called.
            ImportError: the render mode needs the extra `render`.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() needs environments that were made with render_mode='ansi' or 'rgb_array'"
            )
            return None
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before render()")
        scenes = self._scenes(np.arange(self.num_envs)) | self._ended
        if self._before is None:
            return tuple(self.game.draw(state, seat) for state, seat, _ in scenes.values())
        return tuple(
            self.game.picture(state, seat, before=before).pixels(self._render_width)
            for state, seat, before in scenes.values()
        )

    def _scenes(self, games: NDArray[np.int64]) -> dict[int, tuple[State, int, State | None]]:
        """Return copies of `games`, by index: the state, the seat, and the state before the step.

        The state before the step is None if the game is new, or if no picture needs it.
        """
        batch = self._batch
        return {
            i: (
                batch.states[i].copy(),
                int(batch.seats[i]),
                None if self._before is None or self._fresh[i] else self._before[i].copy(),
            )
            for i in games.tolist()
        }

    def _show(self) -> None:
        if self._copy:
            self._new_buffers()
        self._batch.view(self._observations, self._masks)

    def _new_buffers(self) -> None:
        self._observations = np.empty((self.num_envs, self.game.observation.size), np.float32)
        self._masks = np.empty((self.num_envs, len(self.game.actions)), np.int8)

    def _observed(self) -> Any:
        return self._place.observed(self._observations, self._masks)

    def _infos(self, illegal: NDArray[np.int8]) -> Infos:
        infos: Infos = {"seat": self._batch.seats.copy(), "illegal_action": illegal}
        if self._place.in_info:
            infos[self._place.mask_key] = self._masks
        everywhere = np.ones(self.num_envs, np.bool_)
        return {**infos, **{f"_{key}": everywhere.copy() for key in infos}}

    def _finals(self, ended: NDArray[np.int64], illegal: NDArray[np.int8]) -> Infos:
        """Return `final_obs` and `final_info` of the games that a step ended.

        The rows of all other games are 0, or None in `final_obs`.
        """
        batch, present = self._batch, np.zeros(self.num_envs, np.bool_)
        present[ended] = True
        observations, masks = batch.final_views(ended)
        final_obs = np.full(self.num_envs, None, object)
        for i, observation, mask in zip(ended.tolist(), observations, masks, strict=True):
            final_obs[i] = self._place.observed(observation, mask)
        info: Infos = {"seat": np.where(present, batch.seats, 0), "illegal_action": illegal}
        if self._place.in_info:
            info[self._place.mask_key] = np.zeros_like(self._masks)
            info[self._place.mask_key][ended] = masks
        info |= {f"_{key}": present.copy() for key in info}
        finals: Infos = {"final_obs": final_obs, "final_info": info}
        return finals | {f"_{key}": present.copy() for key in finals}
