"""Positions that actions lead to, as the seat that decides would survey them.

A judge of positions needs no policy beside: it tries every legal action on a copy and takes what
leads to the best one (TD-Gammon: Tesauro, 1995; afterstates: Sutton & Barto, 2018, section 6.8).
What the seat is not shown is dealt anew first, so that nothing of it can be seen by trying.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core import state_checks, threads
from armarl.core.batch_loops import Float32s, Float64s, Int8s, Int64s, own
from armarl.core.game import Game
from armarl.core.verbs import verbs
from armarl.networks.judge import survey_of
from armarl.networks.judge_kernels import Scratch, Weights, scratch_of, worth

LEAST_DECISIONS = 2  # that are worth a thread of their own


class Tries(NamedTuple):
    """Decisions whose legal actions are tried."""

    states: States  # (n,)
    seats: Int64s  # (n,) to move
    masks: Int8s  # (n, actions)
    first: Int64s  # (n,) row of the first legal action of each decision
    net: Weights  # the judge's
    dealt: States  # (2 * threads,) scratch
    spare: States  # (2 * threads,) scratch
    scratch: Scratch  # (2 * threads, ...)
    worths: Float32s  # (rows,) written


def try_actions(batch: Tries, i: int, thread: int) -> None:
    """Try the legal actions of decision `i`, in the order of their ids."""
    mine, seat, row, work = own(thread), batch.seats[i], batch.first[i], batch.scratch
    batch.dealt[mine] = batch.states[i]
    verbs.determinise(batch.dealt[mine], seat, 0)
    for action in range(batch.masks.shape[1]):
        if batch.masks[i, action]:
            batch.spare[mine] = batch.dealt[mine]
            verbs.apply(batch.spare[mine], action)
            verbs.survey(batch.spare[mine], seat, work.survey[mine])
            batch.worths[row] = worth(batch.net, work, mine)
            row += 1


class Surveys(NamedTuple):
    """What seats survey."""

    states: States  # (n,)
    seats: Int64s  # (n,)
    surveys: Float32s  # (n, size) written


def read_survey(batch: Surveys, i: int, thread: int) -> None:
    """The survey of a seat."""
    verbs.survey(batch.states[i], batch.seats[i], batch.surveys[i])


class Divisions(NamedTuple):
    """Finished games."""

    states: States  # (n,)
    parts: Float64s  # (n, players, prizes) written


def read_parts(batch: Divisions, i: int, thread: int) -> None:
    """Which part of each prize every seat's side took."""
    verbs.divide(batch.states[i], batch.parts[i])


class Worths(NamedTuple):
    """The legal actions of some decisions, one row each, decision by decision.

    Attributes:
        decisions: int64 (rows,), which of the decisions.
        actions: int64 (rows,), ids in ascending order within a decision.
        first: int64 (decisions,), the row of the first action of each.
        worths: float32 (rows,), what the position reached is worth to the seat that decides.
    """

    decisions: NDArray[np.int64]
    actions: NDArray[np.int64]
    first: NDArray[np.int64]
    worths: NDArray[np.float32]


class Afterstates:
    """Tries the legal actions of decisions, and has a judge say what they lead to.

    Attributes:
        game: the variant.
        prizes: number of prizes in its survey.
    """

    def __init__(self, game: Game) -> None:
        """For a game with a survey.

        Raises:
            ValueError: it has none.
        """
        self._table = survey_of(game)
        self.game, self.prizes = game, self._table.blocks[0].shape[-1]

    def surveys(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """What `seats[i]` surveys in `states[i]`: float32 (n, survey size).

        Raises:
            TypeError, ValueError: not one seat for each state, or a seat that there is not.
        """
        state_checks.check_seats(self.game, states, seats)
        found = np.empty((states.size, self._table.size), np.float32)
        self.game.run(read_survey, states.size, Surveys(states, seats, found))
        return found

    def parts(self, states: States) -> NDArray[np.float64]:
        """What every seat's side took of each prize of finished games: (n, players, prizes).

        Raises:
            TypeError, ValueError: they are no states of this variant.
        """
        state_checks.check_states(self.game, states)
        found = np.zeros((states.size, self.game.players, self.prizes))
        self.game.run(read_parts, states.size, Divisions(states, found))
        return found

    def worths(self, states: States, seats: NDArray[np.int64], net: Weights) -> Worths:
        """What each legal action of `seats[i]`, to move in `states[i]`, leads to.

        Args:
            states: (n,) in play; what the seats are not shown makes no difference.
            net: the judge's; he is also asked of positions where an action has ended the game, of
                which nothing more is revealed to him.

        Raises:
            TypeError, ValueError: not one seat for each state, or a seat that there is not.
        """
        state_checks.check_seats(self.game, states, seats)
        game, masks = self.game, self.game.legal_masks(states)
        numbers = masks.sum(axis=1, dtype=np.int64)
        first = numbers.cumsum() - numbers
        decisions, actions = map(np.ascontiguousarray, np.nonzero(masks))
        found = np.empty(decisions.size, np.float32)
        rows = 2 * threads.most_threads_for(states.size, least=LEAST_DECISIONS)
        spare = (np.full(rows, game.blank), np.full(rows, game.blank), scratch_of(net, rows))
        batch = Tries(states, seats, masks, first, net, *spare, found)
        game.run(try_actions, states.size, batch, least=LEAST_DECISIONS)
        np.nan_to_num(found, copy=False, nan=-1.0)  # of a judge whose weights are huge
        return Worths(decisions, actions, first, found)
