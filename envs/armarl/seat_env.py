"""The Gymnasium face: one seat learns while players hold the others, for every game."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from armarl.faces import (
    CUT_SHORT,
    ENDED,
    ILLEGAL,
    RENDER_MODES,
    GameFace,
    deal_number,
    make_face_game,
    observation_box,
)
from armarl.game import Game, IllegalActionError
from armarl.players import Player, make_player

PlayerSpec = str | Path | Player
Info = dict[str, Any]
_ILLEGAL_REWARD = -1.0


class SeatEnv(GameFace, gymnasium.Env[NDArray[np.float32], np.int64]):
    """A game as one of its players meets it: from each of its decisions to its next.

    Observations are float32 of shape (size,), actions ids in [0, actions). The mask of legal
    actions, int8 of shape (actions,), is given by `action_masks()` and as `info["action_mask"]`;
    after the end it is all 0. `info["seat"]` is the seat that learns.

    The only reward other than 0 comes with the end, whoever brings it about: the seat's own
    return. A player who has no more decisions to take, having passed for instance, sees the end
    as the outcome of his last action. An illegal action ends the episode with reward -1;
    `info["illegal_action"]` then says why it is illegal.
    """

    # Gymnasium's checker asks for a frame rate even of text.
    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game,
        *,
        opponents: PlayerSpec | Sequence[PlayerSpec] = "random",
        seat: int | None = None,
        reward: str = "win",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """An environment without an episode begun yet.

        Args:
            game: a game or its name.
            opponents: one player for all other seats, or a list with one for each of them,
                clockwise from the learning seat. A player is a name ("random", "greedy"), the
                path of a saved policy, or a `Player`.
            seat: the seat that learns; None draws it anew for each episode.
            reward: one of `game.rewards`.
            render_mode: None, or "ansi" for text pictures of what the seat may see.
            options: the game's options, where it is given by name.

        Raises:
            TypeError: an unknown option, or options beside a `Game`.
            ValueError: a value out of range, or a wrong number of opponents.
        """
        if isinstance(game, str):
            own = "opponents, seat, reward, render_mode"
            game = make_face_game(game, options, own)
        elif options:
            raise TypeError(f"a Game has its options already; got {', '.join(options)} beside it")
        if seat is not None and seat not in range(game.players):
            raise ValueError(f"seat must be None or in 0 to {game.players - 1}, not {seat!r}")
        super().__init__(game, reward, render_mode)
        self.observation_space = observation_box(game)
        self.action_space = spaces.Discrete(len(game.actions))
        self.opponents = _opponents(opponents, game)
        self.seat: int | None = seat
        self._fixed_seat = seat
        self._mask: NDArray[np.int8] | None = None  # None before the first reset

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], Info]:
        """Begin an episode, up to the learning seat's first decision.

        Args:
            seed: the seed of the deal (the same deal as the AEC environment gives for it), and of
                all chance from then on. Without one chance goes on as it is.
            options: ignored.
        """
        number = None if seed is None else deal_number(seed)
        super().reset(seed=seed)
        self.game.warm_up()
        self._states = np.full(1, self.game.blank)
        self.seat = self._fixed_seat
        if self.seat is None:
            self.seat = int(self.np_random.integers(self.game.players))
        if number is None:
            number = int(self.np_random.integers(2**63))
        ending = self._play_others(self.game.loops.deal(self._states, 0, number, True))
        while ending < 0:  # a game that ended before the seat's first decision is no episode
            ending = self._play_others(self.game.loops.deal(self._states, 0, 0, False))
        return self._observed(over=False)

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, Info]:
        """Play an action of the learning seat, and those of the others up to its next decision.

        Raises:
            gymnasium.error.ResetNeeded: before `reset`, or after the end of the episode.
            TypeError: the action is no integer.
        """
        if self._mask is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if not self._mask.any():
            raise gymnasium.error.ResetNeeded("the episode has ended: call reset() before step()")
        ending = self._play(action)
        if ending == ILLEGAL:
            reason = self.game.explain(self._states[0], int(action))
            observation, info = self._observed(over=True)
            return observation, _ILLEGAL_REWARD, True, False, {**info, "illegal_action": reason}
        ending = self._play_others(ending)
        observation, info = self._observed(over=ending < 0)
        reward = float(self._returns[info["seat"]]) if ending < 0 else 0.0
        return observation, reward, ending == ENDED, ending == CUT_SHORT, info

    def action_masks(self) -> NDArray[np.int8]:
        """The mask of the seat's legal actions, as MaskablePPO asks for it.

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called.
        """
        if self._mask is None:
            raise gymnasium.error.ResetNeeded("call reset() before action_masks()")
        return self._mask.copy()

    def render(self) -> str | None:
        """The board as text, as far as the learning seat may know it; None without render mode."""
        return self._draw(self.seat)

    def _play_others(self, mover: int) -> int:
        """Let the others play until the learning seat is to move, or the game has ended."""
        while mover >= 0 and mover != self.seat:
            mover = self._play_opponent(mover)
        return mover

    def _play_opponent(self, mover: int) -> int:
        assert self.seat is not None
        opponent = self.opponents[(mover - self.seat) % self.game.players - 1]
        seats = np.array([mover])
        draws = self.np_random.random(1)
        action = opponent.choose(self.game.concealed(self._states, seats), seats, draws)[0]
        following = self._play(action)
        if following == ILLEGAL:
            reason = self.game.explain(self._states[0], int(action))
            raise IllegalActionError(f"the player {opponent.name!r} of seat {mover}: {reason}")
        return following

    def _observed(self, over: bool) -> tuple[NDArray[np.float32], Info]:
        """What `reset` and `step` give of the state: observation and info, in new objects."""
        assert self.seat is not None
        observation, self._mask = self._view(self.seat)
        if over:
            self._mask[:] = 0
        return observation, {"action_mask": self._mask.copy(), "seat": self.seat}


def _opponents(chosen: PlayerSpec | Sequence[PlayerSpec], game: Game) -> tuple[Player, ...]:
    """The players of the other seats, clockwise from the learning one."""
    others = game.players - 1
    if isinstance(chosen, list | tuple):
        if len(chosen) != others:
            raise ValueError(f"a game for {game.players} has {others} opponents, not {len(chosen)}")
        return tuple(make_player(player, game) for player in chosen)
    return (make_player(chosen, game),) * others  # type: ignore[arg-type]
