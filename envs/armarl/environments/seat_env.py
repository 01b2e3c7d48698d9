"""The Gymnasium face: one seat learns while players hold the others, for every game."""

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
from armarl.core.verbs import CUT_SHORT, ENDED, ILLEGAL
from armarl.environments.action_masks import Endings, mask_place
from armarl.environments.base import RENDER_MODES, GameFace, deal_number, face_game
from armarl.environments.seat_batch import AgainstOpponents, SeatBatch, make_opponents
from armarl.players.registry import PlayerLike

Info = dict[str, Any]
INFO_KEYS = ("seat", "illegal_action")  # besides the mask
_IT = np.zeros(1, np.int64)  # the number of the only game


class SeatEnv(AgainstOpponents, GameFace, gymnasium.Env[Any, np.int64]):
    """A game as one of its players meets it: from each of its decisions to its next.

    Observations are float32 of shape (size,), actions ids in [0, actions). The mask of legal
    actions, int8 of shape (actions,), is given by `action_masks()` and as `info["action_mask"]`;
    after the end it is all 0. With `mask="observation"` it is observed instead:
    `{"observation": float32 (size,), "action_mask": int8 (actions,)}`. `info["seat"]` is the seat
    that learns, int64.

    The only reward other than 0 comes with the end, whoever brings it about: the seat's own
    return. A player who has no more decisions to take, having passed for instance, sees the end
    as the outcome of his last action. An illegal action ends the episode with reward -1;
    `info["illegal_action"]`, int8, is then 1, and else 0.

    Attributes:
        refusal: why the last action was illegal, None if it was not.
        endings: how many episodes have ended, and by illegal actions.
    """

    # Gymnasium's checker asks for a frame rate even of text.
    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

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
        **options: Any,
    ) -> None:
        """An environment without an episode begun yet.

        Args:
            game: a game or its name.
            opponents: one player for all other seats, or a list with one for each of them,
                clockwise from the learning seat (see `players.make_player`).
            seat: the seat that learns; None draws it anew for each episode.
            reward: one of `game.rewards`.
            render_mode: None, or "ansi" for text pictures of what the seat may see.
            mask: where the mask is, "info" or "observation".
            observation_key, mask_key: what observation and mask are called there.
            options: the game's options, where it is given by name.

        Raises:
            TypeError: an unknown option or render mode, or options beside a `Game`.
            ValueError: a value out of range, or a wrong number of opponents.
        """
        own = "opponents, seat, reward, render_mode, mask, observation_key, mask_key"
        game = face_game(game, options, own)
        super().__init__(game, render_mode)
        self._place = mask_place(mask, observation_key, mask_key, taken=INFO_KEYS)
        self.observation_space = self._place.space(game)
        self.action_space = spaces.Discrete(len(game.actions))
        self._batch = SeatBatch(game, 1, make_opponents(opponents, game), reward, seat)
        self.refusal: str | None = None
        self.endings = Endings()
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Begin an episode, up to the learning seat's first decision.

        Args:
            seed: the seed of the deal (the same deal as the AEC environment gives for it), and of
                all chance from then on. Without one chance goes on as it is.
            options: ignored.
        """
        number = None if seed is None else deal_number(seed)
        super().reset(seed=None if number is None else number % 2**64)  # none below 0
        if number is None and not self._begun:
            number = int(self.np_random.integers(2**63))
        self._begun = True
        self._states = self._batch.states
        self.refusal = None
        self._batch.open(_IT, None if number is None else np.array([number]))
        return self._observed()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Play an action of the learning seat, and those of the others up to its next decision.

        Raises:
            gymnasium.error.ResetNeeded: before `reset`, or after the end of the episode.
            TypeError: the action is no integer.
        """
        batch = self._batch
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if batch.over[0]:
            raise gymnasium.error.ResetNeeded("the episode has ended: call reset() before step()")
        number = action_number(action)
        batch.answer(np.array([number]))
        end, reward = int(batch.ends[0]), float(batch.rewards[0])
        illegal = end == ILLEGAL
        self.refusal = self.game.explain(self._states[0], number) if illegal else None
        if end:
            self.endings.note(ended=1, illegal=int(illegal))
        observation, info = self._observed(illegal)
        return observation, reward, end in (ENDED, ILLEGAL), end == CUT_SHORT, info

    def action_masks(self) -> NDArray[np.int8]:
        """The mask of the seat's legal actions, as MaskablePPO asks for it.

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before action_masks()")
        mask: NDArray[np.int8] = self._batch.legal[0].copy()
        return mask

    def concealed_state(self) -> States:
        """The game as the learning seat may know it, a copy (1,): what a player chooses by.

        `player.choose(env.concealed_state(), np.array([env.seat]), np.array([draw]))` gives the
        actions (1,) of a player in that seat, `draw` being a random number in [0, 1).

        Raises:
            AttributeError: `reset` has not been called.
        """
        return self.game.concealed(self._states, self._batch.seats)

    def render(self) -> str | None:
        """The board as text, as far as the learning seat may know it; None without render mode."""
        return self._draw(self.seat)

    @property
    def states(self) -> States:
        """The game in play, an array of one record with all that is hidden in it, to be read.

        Who plays by it takes `concealed_state()`, or `game.concealed(states, seats)` for others.
        """
        return self._states

    @property
    def seat(self) -> int | None:
        """The seat that learns; None before a first episode for which it is drawn."""
        seat = int(self._batch.seats[0])
        return seat if seat >= 0 else None

    def _observed(self, illegal: bool = False) -> tuple[Any, Info]:
        """What `reset` and `step` give of the state: observation and info, in new objects."""
        observation = np.empty((1, self.game.observation.size), np.float32)
        mask = np.empty((1, len(self.game.actions)), np.int8)
        self._batch.view(observation, mask)
        info: Info = {"seat": self._batch.seats[0], "illegal_action": np.int8(illegal)}
        if self._place.in_info:
            info[self._place.mask_key] = mask[0]
        return self._place.observed(observation[0], mask[0]), info
