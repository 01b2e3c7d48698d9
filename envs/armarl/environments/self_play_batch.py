"""Many games at once whose seats are all the caller's: for self-play and for search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.compiler.types import States
from armarl.core import array_checks, batch_loops
from armarl.core.array_checks import LARGEST_BATCH
from armarl.core.game import Game
from armarl.core.verbs import CUT_SHORT, PLAYING
from armarl.devices.choosing import device_of
from armarl.environments.base import face_game
from armarl.environments.batch_arguments import (
    as_autoreset_mode,
    chosen_games,
    deal_numbers,
    random_numbers,
    refuse_games_over,
)


@dataclass(frozen=True)
class Turn:
    """What a step left, as arrays with one row per game; on a GPU they are torch's.

    Attributes:
        seats: int64, the seat to move.
        observations: float32 (games, size), as that seat sees the game.
        masks: int8 (games, actions), its legal actions; all 0 where a game is over.
        rewards: float64 (games, players), every seat's own; 0 but at the end of a game.
        ends: int8, PLAYING, ENDED, CUT_SHORT or ILLEGAL: how the step left the game.
    """

    seats: NDArray[np.int64]
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    rewards: NDArray[np.float64]
    ends: NDArray[np.int8]

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Which games the step brought to their end, by the rules or by an illegal action."""
        over: NDArray[np.bool_] = (self.ends != PLAYING) & (self.ends != CUT_SHORT)
        return over

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Which games the step brought to where they are cut short, by a limit of length."""
        cut_short: NDArray[np.bool_] = self.ends == CUT_SHORT
        return cut_short


class SelfPlayBatch:
    """Games in lockstep; each step takes one action per game, of whichever seat is to move there.

    The seat to move is given with its observation and mask, and at a game's end every seat's own
    return, so one learner can play all seats. Game `i` is the one that the AEC environment plays
    from the same seed with the same actions, byte by byte, whatever the batch and the threads.
    An illegal action ends its game, unplayed, with reward -1 for its seat.

    On a GPU (`device="cuda"`, docs/gpu.md) all arrays are tensors that stay there, and states their
    bytes; `to` takes a batch from one device to another.

    Attributes:
        game: the variant: `game.observation.size`, `len(game.actions)`, `game.concealed`, ...
        size: how many games.
        reward: one of `game.rewards`.
        states: (size,) records, which may be read and copied.
        final_states: (size,) records; after a step with autoreset SAME_STEP, the last state of each
            game that the step ended.
        autoreset_mode: when a game that is over starts anew, without a new seed: NEXT_STEP: the
            next step takes no action there, and starts it; SAME_STEP: at once; DISABLED: when
            `reset` is told to, until which no step is possible.
    """

    def __init__(
        self,
        game: str | Game,
        size: int,
        *,
        reward: str = "win",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        device: str = "cpu",
        **options: Any,
    ) -> None:
        """A batch whose games have not been dealt yet.

        Args:
            game: a game or its name.
            size: number of games.
            reward: one of `game.rewards`.
            autoreset_mode: a mode or its name.
            device: "cpu", or a GPU as torch names it, "cuda" or "cuda:1".
            options: the game's options, where it is given by name.

        Raises:
            TypeError: an unknown option, or options beside a `Game`.
            ValueError: a value out of range.
            RuntimeError: something that the GPU needs is missing; the message says what.
        """
        game = face_game(game, options, "reward, autoreset_mode, device")
        size = whole_number("the number of games", size, 1, LARGEST_BATCH)
        self.game, self.size = game, size
        self.autoreset_mode = as_autoreset_mode(autoreset_mode)
        self.reward, self._reward_kind = reward, game.reward_kind(reward)
        self._device = device_of(game, device)
        self.states: States = self._device.put(np.full(size, game.blank))
        self.final_states: States = self._device.put(np.full(size, game.blank))
        self._over = self._device.zeros((size,), np.int8)
        self._legal = self._device.interleaved((size, len(game.actions)), np.int8)  # as shown last
        self._begun = False
        self._known_turn: tuple[Any, ...] = ()  # arrays that were last found to lie apart
        self._at_work: dict[str, int] = {}  # the thread that changes the games just now
        self._columns: dict[str, tuple[tuple[int, ...], Any]] = {  # of a turn: shapes and types
            "seats": ((size,), np.int64),
            "observations": ((size, game.observation.size), np.float32),
            "masks": ((size, len(game.actions)), np.int8),
            "rewards": ((size, game.players), np.float64),
            "ends": ((size,), np.int8),
        }

    def new_turn(self) -> Turn:
        """Arrays for `reset` and `step` to write into, instead of new ones each time."""
        zeros = self._device.zeros
        return Turn(**{name: zeros(*column) for name, column in self._columns.items()})

    @property
    def device(self) -> str:
        """Where the batch lies, as it was told when it was made."""
        return self._device.name

    def to(self, device: str) -> SelfPlayBatch:
        """A copy on another device (or this one), which plays on to the same bytes.

        Raises:
            ValueError: there is no such device.
            RuntimeError: something that it needs is missing.
        """
        mode = self.autoreset_mode
        there = SelfPlayBatch(
            self.game, self.size, reward=self.reward, autoreset_mode=mode, device=device
        )
        for name in ("states", "final_states", "_over", "_legal"):
            array = self._device.fetch(getattr(self, name))
            getattr(there, name)[:] = there._device.put(array)
        there._begun = self._begun
        return there

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        games: NDArray[np.bool_] | None = None,
        out: Turn | None = None,
    ) -> Turn:
        """Start new games.

        Args:
            seed: game `i` is dealt from `seed + i`, or from `seed[i]`. None goes on with the
                games' own generators, which a first call seeds at random.
            games: which games to start, (size,) bool; all if None. The others are only shown again.
            out: arrays to write into; new ones if None.

        Raises:
            TypeError: a seed is no integer.
            ValueError: a wrong number of seeds, one out of range, a wrong choice of games, or
                arrays of wrong shapes or types or in the same memory.
        """
        chosen = chosen_games(None if games is None else self._device.fetch(games), self.size)
        seeds = deal_numbers(seed, self.size)
        turn = self._turn(out)
        if seeds is None and not self._begun:
            seeds = random_numbers(self.size)
        if not self._begun and chosen.size < self.size:
            raise ValueError("the first reset must start all games")
        with self._alone():
            self._begun = True
            which = self._device.put(chosen)
            if seeds is None:
                self._device.run(
                    batch_loops.start, chosen.size, batch_loops.Starts(self.states, which)
                )
            else:
                deals = batch_loops.Deals(self.states, which, self._device.put(seeds[chosen]))
                self._device.run(batch_loops.deal, chosen.size, deals)
            self._over[which] = PLAYING
            return self._show(turn)

    def step(self, actions: NDArray[np.integer[Any]], *, out: Turn | None = None) -> Turn:
        """Play one action in every game, of the seat that is to move there.

        Args:
            actions: (size,) ids.
            out: arrays to write into; new ones if None.

        Raises:
            gymnasium.error.ResetNeeded: before `reset`, or, without autoreset, where a game is
                over.
            ValueError: a wrong number of actions, or arrays of wrong shapes or types or in the same
                memory.
            TypeError: the actions are no integers.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if self.autoreset_mode is AutoresetMode.DISABLED:
            refuse_games_over(self._device.fetch(self._over))
        ids = self._device.action_ids(actions, self.size)
        turn = self._turn(out)
        with self._alone():
            self._device.step(
                self.size, batch_loops.SelfPlay(self._plays(ids, turn), self._sights(turn))
            )
        return turn

    def load_states(self, states: States, *, out: Turn | None = None) -> Turn:
        """Go on with copies of `states`, (size,) games in play, and show them.

        Raises:
            TypeError: they are no array of the game's records.
            ValueError: a wrong number of games, one that is over or unlawful, or arrays of wrong
                shapes or types or in the same memory.
        """
        states = self._device.fetch(states)
        self.game.check_states(states)
        array_checks.check_size("states", states, self.size)
        if self.game.statuses(states)[0].any():
            raise ValueError("a game that is over cannot go on")
        turn = self._turn(out)
        with self._alone():
            self.states = self._device.put(self.game.taken(states, np.arange(self.size)))
            self._known_turn = ()
            self._begun = True
            self._over[:] = PLAYING
            return self._show(turn)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads from the games meanwhile: the loops trust that nobody changes them.

        Raises:
            RuntimeError: another thread is at work on them.
        """
        this = get_ident()
        if self._at_work.setdefault("thread", this) != this:  # at once, for all threads
            raise RuntimeError(
                "another thread plays these games just now: a batch is for one thread at a time"
            )
        try:
            yield
        finally:
            self._at_work.clear()

    def _show(self, turn: Turn) -> Turn:
        """The games as they stand, no action played."""
        turn.rewards[:] = 0
        turn.ends[:] = PLAYING
        self._device.run(batch_loops.view_mover, self.size, self._sights(turn))
        return turn

    def _plays(self, actions: NDArray[np.int64], turn: Turn) -> batch_loops.Plays:
        return batch_loops.Plays(
            states=self.states,
            actions=actions,
            kind=self._reward_kind,
            same_step=self.autoreset_mode is AutoresetMode.SAME_STEP,
            over=self._over,
            legal=self._legal,
            ends=turn.ends,
            rewards=turn.rewards,
            finals=self.final_states,
        )

    def _sights(self, turn: Turn) -> batch_loops.Sights:
        return batch_loops.Sights(
            states=self.states,
            over=self._over,
            legal=self._legal,
            seats=turn.seats,
            observations=turn.observations,
            masks=turn.masks,
        )

    def _turn(self, out: Turn | None) -> Turn:
        """The arrays to write into: the compiled loops trust that they are as `new_turn` has them.

        Raises:
            ValueError: they are not.
        """
        if out is None:
            return self.new_turn()
        for name, (shape, dtype) in self._columns.items():
            if not self._device.is_array(getattr(out, name, None), shape, dtype):
                raise ValueError(
                    f"out.{name} must be {np.dtype(dtype)} of shape {shape}, in one piece and free "
                    "to be written, as new_turn() makes it"
                )
        arrays = tuple(getattr(out, name) for name in self._columns)
        known = self._known_turn
        if len(known) != len(arrays) or any(a is not b for a, b in zip(known, arrays, strict=True)):
            columns = {f"out_{name}": getattr(out, name) for name in self._columns}
            array_checks.check_apart(states=self.states, final_states=self.final_states, **columns)
            self._known_turn = arrays
        return out


# --- what the faces for batches take from their callers ------------------------------------------
