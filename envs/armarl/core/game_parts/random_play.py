"""`RandomPlay`: random games, and random numbers from generators outside the states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core import array_checks, batch_loops, state_checks, threads
from armarl.core.game_parts.compiled_variant import CompiledVariant

_PLAYOUTS_AT_ONCE = 4096  # games per thread in one compiled call, which Ctrl-C cannot interrupt


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomPlay(CompiledVariant):
    """A compiled variant that plays random games and draws random actions."""

    def playouts(
        self, states: States, seeds: NDArray[np.int64], reward: str = "win"
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Play games to their end with random legal actions, in place.

        Check untrusted states (from a file or another program) with `check_states` first.

        Args:
            states: records, shape (batch,); each game continues from its state.
            seeds: a seed for the random actions of each game, int64, shape (batch,). Chance in the
                rules comes from the random number generators in the states.
            reward: one of `rewards`.

        Returns:
            Returns of all seats, float64 (batch, players), and numbers of actions played, int64
            (batch,).

        Raises:
            TypeError, ValueError: an array has another dtype or size or is read-only, the two
                arrays share memory, a state is of another variant, or the game has no such reward.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> game.playouts(game.new_states(0), seeds=np.array([1]))
            (array([[-1.,  1.]]), array([62]))
        """
        states = state_checks.check_states(self, states, written=True)
        numbers = array_checks.check_numbers("seeds", seeds, states.size)
        array_checks.check_apart(states=states, seeds=seeds)
        chance, masks = self.new_chance(numbers), self.scratch_masks(states.size)
        returns, lengths = np.empty((states.size, self.players)), np.empty(states.size, np.int64)
        kind = self.reward_kind(reward)
        at_once = _PLAYOUTS_AT_ONCE * threads.threads_for(states.size)
        for first in range(0, states.size, at_once):
            some = slice(first, first + at_once)
            arrays = states[some], chance[some], kind, masks, returns[some], lengths[some]
            batch = batch_loops.Playouts(*arrays)
            self.run(batch_loops.play_out, lengths[some].size, batch)
        return returns, lengths

    def new_chance(self, seeds: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the state of a random number generator for each seed, uint64 (n,).

        These generators are independent of those in the game states.

        Args:
            seeds: seeds, int64, shape (n,).

        Raises:
            TypeError, ValueError: `seeds` is not an int64 array of shape (n,).
        """
        seeds = array_checks.check_numbers("seeds", seeds, None)
        chance = np.empty(seeds.size, np.uint64)
        batch = batch_loops.Streams(chance, np.arange(seeds.size), seeds)
        self.run(batch_loops.seed_stream, seeds.size, batch)
        return chance

    def random_actions(
        self, masks: NDArray[np.int8], chance: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Return a random legal action for each row of `masks`, or 0 where no action is legal.

        Args:
            masks: action masks, int8, shape (n, actions).
            chance: a random number generator for each row, uint64, shape (n,), from `new_chance`;
                advanced in place.

        Raises:
            TypeError, ValueError: an array has another dtype or size, a mask has entries other than
                0 and 1, or the two arrays share memory.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states, chance = game.new_states(0), game.new_chance(np.array([5]))
            >>> action = game.random_actions(game.legal_masks(states), chance)
            >>> game.apply(states, np.array([0]), action)
        """
        legal = array_checks.check_masks(masks, len(self.actions))
        chance = array_checks.check_array("chance", chance, np.uint64, written=True)
        array_checks.check_size("chance", chance, len(legal))
        array_checks.check_apart(masks=masks, chance=chance)
        actions = np.empty(len(legal), np.int64)
        self.run(batch_loops.pick_action, len(legal), batch_loops.Picks(legal, chance, actions))
        return actions

    def questions(
        self, states: States, games: NDArray[np.int64], chance: NDArray[np.uint64]
    ) -> tuple[States, NDArray[np.int64], NDArray[np.float64]]:
        """Return the arguments of `Player.choose` for the seats to move in `states[games]`.

        Args:
            states: records, shape (batch,).
            games: indices into `states`, int64, shape (n,), without duplicates.
            chance: a random number generator for each of `states`, uint64, shape (batch,), from
                `new_chance`; advanced in place for `games`.

        Returns:
            Concealed states of the seats to move, shape (n,); these seats, int64 (n,); and random
            numbers in [0, 1), float64 (n,).

        Raises:
            TypeError, ValueError: an array has another dtype or size, two arrays share memory, an
                index is out of range or occurs twice, or a state is of another variant.
        """
        states, chosen = state_checks.check_chosen(self, states, games)
        chance = array_checks.check_array("chance", chance, np.uint64, written=True)
        array_checks.check_size("chance", chance, states.size)
        array_checks.check_apart(states=states, games=games, chance=chance)
        games = chosen
        seen = np.empty(games.size, states.dtype)
        movers, draws = np.empty(games.size, np.int64), np.empty(games.size)
        batch = batch_loops.Questions(states, games, chance, seen, movers, draws)
        self.run(batch_loops.ask, games.size, batch)
        return seen, movers, draws
