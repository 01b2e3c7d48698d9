"""Gymnasium's vector face: many single-seat environments in one, played by compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from armarl.faces import RENDER_MODES, check_render_mode, face_game, observation_box
from armarl.game import Game
from armarl.players import PlayerLike
from armarl.seat_batch import SeatBatch, make_opponents
from armarl.self_play_batch import (
    action_ids,
    as_autoreset_mode,
    chosen_games,
    deal_numbers,
    refuse_games_over,
)
from armarl.verbs import CUT_SHORT, PLAYING

Infos = dict[str, Any]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]


class SeatVectorEnv(gymnasium.vector.VectorEnv[NDArray[np.float32], NDArray[np.int64], Any]):
    """What `gymnasium.vector.SyncVectorEnv` of so many `SeatEnv`s would be, to the byte.

    Observations are float32 of shape (num_envs, size). Infos are arrays with a row per game, of
    which `_key` tells the rows that count: `action_mask`, int8 (num_envs, actions), all 0 where a
    game is over, and `seat`. An illegal action ends its episode with reward -1, and
    `illegal_action` says why. With autoreset SAME_STEP the last observation and info of an episode
    are in `final_obs` and `final_info`.
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
        **options: Any,
    ) -> None:
        """Environments without an episode begun yet.

        Args:
            game, opponents, seat, reward, render_mode, options: as for `SeatEnv`.
            num_envs: number of games.
            autoreset_mode: Gymnasium's. NEXT_STEP: the step after an episode's end takes no
                action, and begins the next one; SAME_STEP: the step that ends an episode begins
                the next one; DISABLED: `reset(options={"reset_mask": ...})` does.
            copy: whether every step gives new arrays of observations and masks; if not, the same
                ones are written into again.

        Raises:
            TypeError: an unknown option or render mode, or options beside a `Game`.
            ValueError: a value out of range, or a wrong number of opponents.
        """
        own = "opponents, seat, reward, autoreset_mode, copy, render_mode"
        game = face_game(game, options, own)
        check_render_mode(render_mode)
        self._batch = SeatBatch(game, num_envs, make_opponents(opponents, game), reward, seat)
        self.game, self.num_envs, self.render_mode = game, num_envs, render_mode
        self.__dict__.update(game.attributes)
        self.autoreset_mode = as_autoreset_mode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": RENDER_MODES}
        self.single_observation_space = observation_box(game)
        self.single_action_space = gymnasium.spaces.Discrete(len(game.actions))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._copy = copy
        self._begun = False
        self._new_buffers()

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], Infos]:
        """Begin episodes, up to the learning seat's first decision in each.

        Args:
            seed: game `i` is dealt from `seed + i`, or from `seed[i]`. Without a seed chance goes
                on as it is.
            options: "reset_mask", bool of shape (num_envs,), tells the games that are reset; all
                without it. Observations and infos are given of all of them.

        Raises:
            ValueError: a wrong number of seeds, one out of range, or a wrong mask.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        games = chosen_games((options or {}).get("reset_mask"), self.num_envs)
        if not self._begun and games.size < self.num_envs:
            raise ValueError("the first reset must reset all games")
        seeds = deal_numbers(seed, self.num_envs)
        if seeds is None and not self._begun:
            seeds = self.np_random.integers(2**63, size=self.num_envs)
        self._begun = True
        self._batch.open(games, None if seeds is None else seeds[games])
        self._show()
        return self._observations, self._infos()

    def step(
        self, actions: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.float32], Floats, Bools, Bools, Infos]:
        """Play an action of the learning seat in every game, and those of the others after it.

        Raises:
            gymnasium.error.ResetNeeded: before `reset`, or, without autoreset, where a game is
                over.
            TypeError: the actions are no integers.
            ValueError: a wrong number of actions.
        """
        batch, same_step = self._batch, self.autoreset_mode is AutoresetMode.SAME_STEP
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if self.autoreset_mode is AutoresetMode.DISABLED:
            refuse_games_over(batch.over)
        ids = action_ids(actions, self.num_envs)
        over_before = np.flatnonzero(batch.over)
        batch.answer(ids)
        ended = np.flatnonzero(batch.ends)
        truncations = batch.ends == CUT_SHORT
        terminations = (batch.ends != PLAYING) & ~truncations
        illegal = batch.illegal_actions(ids)
        finals = self._finals(ended, illegal) if same_step and ended.size else {}
        batch.open(ended if same_step else over_before)
        self._show()
        infos = {**self._infos(), **finals}
        if illegal and not same_step:
            self._add(infos, "illegal_action", illegal)
        return self._observations, batch.rewards.copy(), terminations, truncations, infos

    def action_masks(self) -> NDArray[np.int8]:
        """The masks of the learning seats, int8 (num_envs, actions).

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before action_masks()")
        return self._batch.legal.copy()

    def render(self) -> tuple[str, ...] | None:
        """The boards as text, as far as the learning seats may know them.

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render mode: make it with render_mode='ansi'")
            return None
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before render()")
        seats = self._batch.seats.tolist()
        return tuple(map(self.game.draw, self._batch.states, seats))

    def _show(self) -> None:
        if self._copy:
            self._new_buffers()
        self._batch.show(self._observations, self._masks)

    def _new_buffers(self) -> None:
        self._observations = np.empty((self.num_envs, self.game.observation.size), np.float32)
        self._masks = np.empty((self.num_envs, len(self.game.actions)), np.int8)

    def _infos(self) -> Infos:
        infos: Infos = {"action_mask": self._masks, "seat": self._batch.seats.copy()}
        everywhere = np.ones(self.num_envs, np.bool_)
        return {**infos, "_action_mask": everywhere, "_seat": everywhere.copy()}

    def _finals(self, ended: NDArray[np.int64], illegal: dict[int, str]) -> Infos:
        """`final_obs` and `final_info` of the games that a step ended."""
        info: Infos = {}
        self._add(info, "action_mask", dict.fromkeys(ended.tolist(), 0), np.zeros_like(self._masks))
        seats = dict(zip(ended.tolist(), self._batch.seats[ended].tolist(), strict=True))
        self._add(info, "seat", seats, np.zeros(self.num_envs, np.int64))
        if illegal:
            self._add(info, "illegal_action", illegal)
        finals: Infos = {}
        observations = self._batch.final_observations(ended)
        self._add(finals, "final_obs", dict(zip(ended.tolist(), observations, strict=True)))
        return {**finals, "final_info": info, "_final_info": finals["_final_obs"].copy()}

    def _add(
        self,
        infos: Infos,
        key: str,
        values: dict[int, Any],
        array: NDArray[Any] | None = None,
    ) -> None:
        """Put values of some games under a key, and under `_key` which games those are."""
        if array is None:
            array = np.full(self.num_envs, None, object)
        present = np.zeros(self.num_envs, np.bool_)
        for i, value in values.items():
            array[i] = value
            present[i] = True
        infos[key], infos[f"_{key}"] = array, present
