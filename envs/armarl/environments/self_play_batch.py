"""Batches of games in which the caller plays all seats, for self-play and search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.compiler.types import States
from armarl.core import array_checks, batch_loops, state_checks
from armarl.core.array_checks import LARGEST_BATCH
from armarl.core.game import Game
from armarl.core.verbs import PLAYING
from armarl.devices.choosing import device_of
from armarl.environments.base import face_game
from armarl.environments.batch_arguments import (
    as_autoreset_mode,
    chosen_games,
    deal_numbers,
    random_numbers,
    refuse_games_over,
)
from armarl.environments.one_thread import AtWork, alone
from armarl.environments.pickling import WritableArrays


@dataclass(frozen=True)
class Turn:
    """The result of a step: arrays with one row per game. On a GPU they are torch tensors.

    Attributes:
        seats: int64 (games,), the seat to move.
        observations: float32 (games, size), the observation of that seat.
        masks: int8 (games, actions), the action mask of that seat; all 0 where the game is over.
        rewards: float64 (games, players), the reward of every seat; 0 except at the end of a game.
        ends: int8 (games,), the status after the step: PLAYING, ENDED, CUT_SHORT or ILLEGAL (0 to
            3; `armarl.games.authoring` has these names).

    Example:
        >>> import armarl
        >>> turn = armarl.SelfPlayBatch("armadora", 4).reset(seed=0)
        >>> turn.seats, turn.terminated.any().item()
        (array([0, 0, 0, 0]), False)
    """

    seats: NDArray[np.int64]
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    rewards: NDArray[np.float64]
    ends: NDArray[np.int8]

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """The games that the step ended, by the rules or by an illegal action; bool (games,)."""
        over: NDArray[np.bool_] = self.ends != PLAYING
        return over

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """False for every game, bool (games,): a batch has no limit besides the rules."""
        none: NDArray[np.bool_] = self.ends < PLAYING
        return none


class SelfPlayBatch(WritableArrays):
    """A batch of games in lockstep. Each step takes one action per game, for the seat to move.

    A step returns the seat to move, its observation and its action mask. At the end of a game the
    step also returns the reward of every seat, so one learner can play all seats. Game `i` equals,
    byte for byte, the game that the AEC environment plays from the same seed with the same actions.
    The batch size and the number of threads make no difference. An illegal action is not played,
    but it ends the game with reward -1 for the seat that chose it.

    Only one thread at a time may use a batch. A call during another thread's call raises
    RuntimeError.

    On a GPU (`device="cuda"`) all arrays are tensors that stay on the GPU, and each state is stored
    as bytes (uint8). `to` copies a batch to another device.

    Attributes:
        game: the variant, with `game.observation.size`, `len(game.actions)`, `game.concealed`, ...
        size: the number of games.
        reward: one of `game.rewards`.
        states: (size,) records of the games. Do not write to them.
        final_states: (size,) records; after a step with autoreset SAME_STEP, the last state of each
            game that the step ended.
        autoreset_mode: the moment at which a finished game is reset. (The game's random number
            generator makes the new deal, without a new seed.) NEXT_STEP: the next step ignores
            that game's action and resets it. SAME_STEP: the step that ends a game also resets it.
            DISABLED: only `reset` does, and until then `step` raises ResetNeeded.

    Example:
        >>> import armarl
        >>> batch = armarl.SelfPlayBatch("armadora", 64, players=3)
        >>> turn = batch.reset(seed=0)
        >>> for _ in range(100):
        ...     turn = batch.step(turn.masks.argmax(axis=1))  # the first legal action of each game
        >>> turn.observations.shape, turn.masks.shape, turn.rewards.shape
        ((64, 696), (64, 229), (64, 3))
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
        """Make a batch. `reset` deals its games.

        Args:
            game: a game or its name.
            size: the number of games.
            reward: one of `game.rewards`.
            autoreset_mode: a mode or its name.
            device: "cpu", or a GPU by its torch name, such as "cuda" or "cuda:1".
            options: the game's options, for a game given by name.

        Raises:
            TypeError: an option is unknown, game options are given together with a `Game`, or the
                size is not an integer.
            ValueError: a value is out of range, or the reward, the mode or the device is unknown.
            RuntimeError: a requirement of the GPU is missing; the message names it.
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
        packed = size, batch_loops.packed_size(len(game.actions))
        self._legal = self._device.interleaved(packed, np.int32)  # packed masks of the last turn
        self._spare = self._device.interleaved((0, len(game.actions)), np.int8)
        self._begun = False
        self._known_turn: tuple[Any, ...] = ()  # the last arrays of `out` that passed the check
        self._at_work = AtWork()
        self._columns: dict[str, tuple[tuple[int, ...], Any]] = {  # shape and dtype by name
            "seats": ((size,), np.dtype(np.int64)),
            "observations": ((size, game.observation.size), np.dtype(np.float32)),
            "masks": ((size, len(game.actions)), np.dtype(np.int8)),
            "rewards": ((size, game.players), np.dtype(np.float64)),
            "ends": ((size,), np.dtype(np.int8)),
        }

    def new_turn(self) -> Turn:
        """Return arrays for the argument `out` of `reset` and `step`, to reuse in every step.

        Their contents are arbitrary at first.
        """
        written = self._device.written
        return Turn(**{name: written(*column) for name, column in self._columns.items()})

    @property
    def device(self) -> str:
        """The device of the batch, as given at its creation."""
        return self._device.name

    @alone
    def to(self, device: str) -> SelfPlayBatch:
        """Return a copy of the batch on this or another device.

        The copy continues with the same results as this batch, byte for byte.

        Args:
            device: "cpu", or a GPU by its torch name, such as "cuda" or "cuda:1".

        Raises:
            ValueError: the device does not exist.
            RuntimeError: a requirement of the device is missing.
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

    @alone
    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        games: NDArray[np.bool_] | None = None,
        out: Turn | None = None,
    ) -> Turn:
        """Start new games.

        Args:
            seed: an integer, which deals game `i` from `seed + i`, or a sequence, which deals it
                from `seed[i]`. None continues with the games' own random number generators, which
                the first call seeds at random.
            games: a mask of the games to start, bool (size,); None for all. The other games
                continue and appear unchanged in the result.
            out: arrays to write to, from `new_turn`; None for new ones.

        Raises:
            TypeError: a seed is not an integer.
            ValueError: the number of seeds is wrong, a seed is out of range, the mask of games is
                wrong, the first call does not start all games, or the arrays of `out` have a wrong
                shape or dtype or share memory.
        """
        chosen = chosen_games(None if games is None else self._device.fetch(games), self.size)
        seeds = deal_numbers(seed, self.size)
        turn = self._turn(out)
        if seeds is None and not self._begun:
            seeds = random_numbers(self.size)
        if not self._begun and chosen.size < self.size:
            raise ValueError(
                f"the first reset must start all {self.size} games, not only {chosen.size}"
            )
        self._begun = True
        which = self._device.put(chosen)
        if seeds is None:
            self._device.run(batch_loops.start, chosen.size, batch_loops.Starts(self.states, which))
        else:
            deals = batch_loops.Deals(self.states, which, self._device.put(seeds[chosen]))
            self._device.run(batch_loops.deal, chosen.size, deals)
        self._over[which] = PLAYING
        return self._show(turn)

    @alone
    def step(self, actions: NDArray[np.integer[Any]], *, out: Turn | None = None) -> Turn:
        """Play one action in every game, for the seat to move.

        Args:
            actions: action ids, integers, shape (size,).
            out: arrays to write to, from `new_turn`; None for new ones.

        Raises:
            gymnasium.error.ResetNeeded: `reset` was not called yet, or a game is over and autoreset
                is disabled.
            ValueError: the number of actions is wrong, or the arrays of `out` have a wrong shape or
                dtype or share memory.
            TypeError: the actions are not integers.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if self.autoreset_mode is AutoresetMode.DISABLED:
            refuse_games_over(self._device.fetch(self._over))
        ids = self._device.action_ids(actions, self.size)
        turn = self._turn(out)
        self._device.step(
            self.size, batch_loops.SelfPlay(self._plays(ids, turn), self._sights(turn))
        )
        return turn

    @alone
    def load_states(self, states: States, *, out: Turn | None = None) -> Turn:
        """Continue from copies of `states`, and return their observations and masks.

        Args:
            states: records of games in play, shape (size,).
            out: arrays to write to, from `new_turn`; None for new ones.

        Raises:
            TypeError: `states` is not an array of the game's records.
            ValueError: the number of states is wrong, a game is over, a state is not valid, or the
                arrays of `out` have a wrong shape or dtype or share memory.
        """
        given = state_checks.check_states(self.game, self._device.fetch(states))
        array_checks.check_size("states", given, self.size)
        states = self.game.taken(given, np.arange(self.size))  # a copy that no caller can change
        self.game.check_states(states)
        if self.game.statuses(states)[0].any():
            raise ValueError("all games in `states` must be in play, but at least one game is over")
        turn = self._turn(out)
        self.states = self._device.put(states)
        self._known_turn = ()
        self._begun = True
        self._over[:] = PLAYING
        return self._show(turn)

    def _show(self, turn: Turn) -> Turn:
        """Write the current state of the games to `turn`, without playing an action."""
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
        rows = self._device.scratch_rows(self.size)
        if len(self._spare) < rows:  # the first call, or there are more threads than before
            self._spare = self._device.interleaved((rows, len(self.game.actions)), np.int8)
        return batch_loops.Sights(
            states=self.states,
            over=self._over,
            legal=self._legal,
            spare=self._spare,
            seats=turn.seats,
            observations=turn.observations,
            masks=turn.masks,
        )

    def _turn(self, out: Turn | None) -> Turn:
        """Return the arrays to write to. Check them here, because compiled loops do not check them.

        Raises:
            ValueError: an array has a wrong shape or dtype, or arrays share memory.
        """
        if out is None:
            return self.new_turn()
        arrays = tuple(getattr(out, name, None) for name in self._columns)
        is_array = self._device.is_array
        for (name, (shape, dtype)), array in zip(self._columns.items(), arrays, strict=True):
            if not is_array(array, shape, dtype):
                raise ValueError(
                    f"out.{name} must be {np.dtype(dtype)} of shape {shape}, C-contiguous and "
                    "writeable, as new_turn() makes it"
                )
        known = self._known_turn
        if len(known) != len(arrays) or not all(map(is_, arrays, known)):
            columns = {f"out_{name}": getattr(out, name) for name in self._columns}
            array_checks.check_apart(states=self.states, final_states=self.final_states, **columns)
            self._known_turn = arrays
        return out
