"""Single-agent Gymnasium environments for every game: one seat learns, players play the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from armarl.common.numbers import action_number
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.core.pictures.sheet import WIDTH
from armarl.core.verbs import ILLEGAL, PLAYING
from armarl.environments.action_masks import Endings, mask_place
from armarl.environments.base import (
    RENDER_FPS,
    RENDER_MODES,
    GameFace,
    deal_number,
    face_game,
    np_random_seed,
    reset_options,
)
from armarl.environments.one_thread import alone
from armarl.environments.seat_batch import AgainstOpponents, SeatBatch, make_opponents
from armarl.players.registry import PlayerLike

Info = dict[str, Any]
INFO_KEYS = ("seat", "illegal_action")  # the keys of infos, except the key of the mask
_IT = np.zeros(1, np.int64)  # the index of the only game


class SeatEnv(AgainstOpponents, GameFace, gymnasium.Env[Any, np.int64]):
    """A game as a single-agent environment: one seat learns, and players play the other seats.

    A step goes from one decision of the learning seat to the next. Observations are float32 of
    shape (size,). Actions are ids in [0, actions). The action mask, int8 of shape (actions,), is
    returned by `action_masks()` and as `info["action_mask"]`. After the end of the game the mask is
    all 1, so that sampling from it never fails. With `mask="observation"` the mask is part of the
    observation instead: `{"observation": float32 (size,), "action_mask": int8 (actions,)}`.
    `info["seat"]` is the learning seat, int64.

    The reward is 0 until the game ends. Then it is the learning seat's own return, no matter which
    seat ends the game. If the learning seat has no more decisions, for example after it passed, the
    step of its last action continues to the end of the game. An illegal action ends the episode
    with reward -1, and `info["illegal_action"]`, int8, is 1 (otherwise 0).
    `truncated` is always False.

    Only one thread at a time may use an environment. A call during another thread's call raises
    RuntimeError. An error of an opponent leaves the game half played. Until `reset` with a seed,
    further steps and resets raise RuntimeError.

    Attributes:
        game: the variant that is played.
        refusal: the reason why the last action was illegal, or None if it was legal.
        endings: counts of all ended episodes and of episodes that ended with an illegal action.

    Example:
        >>> import gymnasium
        >>> import armarl
        >>> env = gymnasium.make("armarl/Armadora-2p-v0", opponents="greedy", seat=0)
        >>> observation, info = env.reset(seed=1)
        >>> observation.shape, int(info["action_mask"].sum())
        ((576,), 228)
        >>> observation, reward, terminated, truncated, info = env.step(0)
        >>> reward, terminated
        (0.0, False)
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        game: str | Game,
        *,
        opponents: PlayerLike | Sequence[PlayerLike] = "random",
        seat: int | None = None,
        reward: str = "win",
        render_mode: str | None = None,
        mask: str = "info",
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        render_width: int = WIDTH,
        **options: Any,
    ) -> None:
        """Create an environment. Call `reset` before playing.

        Args:
            game: a game or its name.
            opponents: one player for all other seats, or a list with one player per seat,
                clockwise from the learning seat (see `armarl.make_player`). A specification makes
                one player for each seat. A player object plays all seats for which it is given.
            seat: the learning seat. None draws a random seat for each episode.
            reward: one of `game.rewards`.
            render_mode: None, "ansi" for the board as text, "rgb_array" for pixels, uint8
                (height, width, 3), or "human" for a window. All show only what the learning seat
                may see. A game without a drawing has no "rgb_array", and its "human" prints text.
            mask: the place of the action mask, "info" or "observation".
            observation_key, mask_key: the keys of the observation and the mask in that place.
            render_width: the width of frames in pixels, 16 to 4096.
            options: the game's options, if the game is given by name.

        Raises:
            TypeError: an option or the render mode is unknown, game options are given together with
                a `Game`, or a value has the wrong type.
            ValueError: a value is out of range, an opponent is unknown or was made for another
                variant, or the number of opponents is wrong.
        """
        own = "opponents, seat, reward, render_mode, mask, observation_key, mask_key, render_width"
        game = face_game(game, options, own)
        super().__init__(game, render_mode, render_width)
        self._place = mask_place(mask, observation_key, mask_key, taken=INFO_KEYS)
        self.observation_space = self._place.space(game)
        self.action_space = spaces.Discrete(len(game.actions))
        self._batch = SeatBatch(game, 1, make_opponents(opponents, game), reward, seat)
        self.refusal: str | None = None
        self.endings = Endings()
        self._begun = False

    @alone
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Begin an episode and play it to the learning seat's first decision.

        A game that ends before this decision is replaced by a new one.

        Args:
            seed: the seed of the deal and of all later chance events. The AEC environment deals the
                same game from the same seed. Without a seed the random number generators continue.
            options: ignored.

        Raises:
            TypeError: the seed is not an integer, or the options are not a dictionary.
            ValueError: the seed is below -2**63.
            IllegalActionError: an opponent chose an illegal action.
            RuntimeError: an opponent failed earlier, and there is no seed.
        """
        reset_options(options)
        number = None if seed is None else deal_number(seed)
        super().reset(seed=np_random_seed(seed))
        if number is None and not self._begun:
            number = int(self.np_random.integers(2**63))
        self._begun = True
        self._states = self._batch.states
        self.refusal = self._before = None
        self._batch.open(_IT, None if number is None else np.array([number]))
        if self.render_mode == "human":
            self.render()
        return self._observed()

    @alone
    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Play the learning seat's action, then all actions before its next decision.

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called, or the episode has ended.
            TypeError: the action is not an integer.
            IllegalActionError: an opponent chose an illegal action.
            RuntimeError: an opponent failed earlier, or another thread is using the environment.
        """
        batch = self._batch
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if batch.over[0]:
            raise gymnasium.error.ResetNeeded("the episode has ended: call reset() before step()")
        number = action_number(action)
        if self._draws:
            self._before = self._states.copy()
        batch.answer(np.array([number]))
        end, reward = int(batch.ends[0]), float(batch.rewards[0])
        illegal = end == ILLEGAL
        self.refusal = self.game.explain(self._states[0], number) if illegal else None
        if end:
            self.endings.note(ended=1, illegal=int(illegal))
        if self.render_mode == "human":
            self.render()
        observation, info = self._observed(illegal)
        return observation, reward, end != PLAYING, False, info

    @alone
    def action_masks(self) -> NDArray[np.int8]:
        """Return the learning seat's action mask, a new int8 array (actions,), for MaskablePPO.

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before action_masks()")
        mask: NDArray[np.int8] = self._batch.legal[0].copy()
        return mask

    @alone
    def concealed_state(self) -> States:
        """Return a copy of the state without information hidden from the learning seat, shape (1,).

        `player.choose(env.concealed_state(), np.array([env.seat]), np.array([draw]))` returns a
        player's action for that seat, shape (1,). `draw` is a random number in [0, 1).

        Raises:
            AttributeError: `reset` has not been called.
        """
        return self.game.concealed(self._states, self._batch.seats)

    @alone
    def render(self) -> Any:
        """Render the board according to the render mode, as the learning seat sees it.

        The result is text or pixels. It is None if the board is shown in a window and, with a
        warning, without a render mode. Marks show all changes since the learning seat's last
        action, including the changes by that action.

        Raises:
            AttributeError: `reset` has not been called.
            ImportError: the render mode needs the extra `render`.
            RuntimeError: the render mode is "human", and there is no screen.
        """
        return self._render(self.seat)

    def _repr_svg_(self) -> str | None:
        return self._notebook(self.seat)

    def close(self) -> None:
        """Close the window of render mode "human". There is nothing else to close."""
        self._close_window()

    @property
    def states(self) -> States:
        """The game in play, as an array of one record with all hidden values. Do not write to it.

        To choose actions, use `concealed_state()`, or `game.concealed(states, seats)` for other
        seats.

        Raises:
            AttributeError: `reset` has not been called.
        """
        return self._states

    @property
    def seat(self) -> int | None:
        """The learning seat. None if it is drawn per episode and no episode has begun."""
        seat = int(self._batch.seats[0])
        return seat if seat >= 0 else None

    def _observed(self, illegal: bool = False) -> tuple[Any, Info]:
        """Return the observation and the info for `reset` and `step`, in new objects."""
        observation = np.empty((1, self.game.observation.size), np.float32)
        mask = np.empty((1, len(self.game.actions)), np.int8)
        self._batch.view(observation, mask)
        info: Info = {"seat": self._batch.seats[0], "illegal_action": np.int8(illegal)}
        if self._place.in_info:
            info[self._place.mask_key] = mask[0]
        return self._place.observed(observation[0], mask[0]), info
