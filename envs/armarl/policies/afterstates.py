"""Afterstates: the positions after the legal actions of a decision, and a judge's values of them.

A judge is a value network (see `armarl.networks.judge`). A player with a judge needs no policy. It
tries every legal action on a copy of the state and takes the action that leads to the best position
(TD-Gammon: Tesauro, 1995; afterstates: Sutton & Barto, 2018, section 6.8). Before the first action
is tried, the hidden information is redealt, so that the afterstates cannot reveal it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core import state_checks, threads
from armarl.core.batch_loops import Float32s, Float64s, Int8s, Int64s, own
from armarl.core.verbs import Fixed, verbs
from armarl.networks.judge import survey_of
from armarl.networks.judge_kernels import Scratch, Weights, scratch_of, worth

if TYPE_CHECKING:
    from armarl.core.game import Game

LEAST_DECISIONS = 2  # minimum number of decisions per thread


class Tries(NamedTuple):
    """A batch of decisions whose legal actions are tried."""

    states: States  # (n,)
    seats: Int64s  # (n,) seats to move
    masks: Int8s  # (n, actions)
    first: Int64s  # (n,) index in `worths` of the first legal action of each decision
    net: Weights  # the judge's weights
    dealt: States  # (2 * threads,) scratch
    spare: States  # (2 * threads,) scratch
    scratch: Scratch  # (2 * threads, ...)
    worths: Float32s  # (rows,) output, one row per legal action


def try_actions(batch: Tries, i: int, thread: int, fixed: Fixed) -> None:
    """Write the worth of each legal action of decision `i`, in the order of action ids."""
    mine, seat, row, work = own(thread), batch.seats[i], batch.first[i], batch.scratch
    batch.dealt[mine] = batch.states[i]
    verbs.determinise(batch.dealt[mine], seat, 0)
    for action in range(batch.masks.shape[1]):
        if batch.masks[i, action]:
            batch.spare[mine] = batch.dealt[mine]
            verbs.apply(batch.spare[mine], action, *fixed)
            verbs.survey(batch.spare[mine], seat, work.survey[mine], *fixed)
            batch.worths[row] = worth(batch.net, work, mine)
            row += 1


class Surveys(NamedTuple):
    """A batch of surveys to compute."""

    states: States  # (n,)
    seats: Int64s  # (n,)
    surveys: Float32s  # (n, size) output


def read_survey(batch: Surveys, i: int, thread: int, fixed: Fixed) -> None:
    """Write the survey of state `i` for its seat to `surveys[i]`."""
    verbs.survey(batch.states[i], batch.seats[i], batch.surveys[i], *fixed)


class Divisions(NamedTuple):
    """A batch of finished games, and the share of each prize that each seat's side took."""

    states: States  # (n,)
    parts: Float64s  # (n, players, prizes) output


def read_parts(batch: Divisions, i: int, thread: int) -> None:
    """Write the share of each prize that the side of each seat took to `parts[i]`."""
    verbs.divide(batch.states[i], batch.parts[i])


class Worths(NamedTuple):
    """The legal actions of some decisions, one row each, grouped by decision.

    Attributes:
        decisions: index of the decision of each row, int64, shape (rows,).
        actions: action ids, int64, shape (rows,), ascending within a decision.
        first: row of the first action of each decision, int64, shape (decisions,).
        worths: worth of the resulting position for the deciding seat (see `JudgeNetwork.worths`),
            float32, shape (rows,).
    """

    decisions: NDArray[np.int64]
    actions: NDArray[np.int64]
    first: NDArray[np.int64]
    worths: NDArray[np.float32]


class Afterstates:
    """The afterstates of a game: their surveys, and their worths (see `JudgeNetwork.worths`).

    Attributes:
        game: the variant.
        prizes: number of prizes in the game's survey.
    """

    def __init__(self, game: Game) -> None:
        """Prepare for a game with a survey.

        Raises:
            ValueError: the game has no survey.
        """
        self._table = survey_of(game)
        self.game, self.prizes = game, self._table.blocks[0].shape[-1]

    def surveys(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the survey of `seats[i]` in `states[i]`, float32, shape (n, survey size).

        Raises:
            TypeError, ValueError: there is not one seat for each state, or a seat does not exist.
        """
        states, seats = state_checks.check_seats(self.game, states, seats)
        found = np.empty((states.size, self._table.size), np.float32)
        self.game.run(read_survey, states.size, Surveys(states, seats, found))
        return found

    def parts(self, states: States) -> NDArray[np.float64]:
        """Return the share of each prize that the side of each seat took in finished games.

        The shape is (n, players, prizes).

        Raises:
            TypeError, ValueError: `states` are not states of this variant.
        """
        states = state_checks.check_states(self.game, states)
        found = np.zeros((states.size, self.game.players, self.prizes))
        self.game.run(read_parts, states.size, Divisions(states, found))
        return found

    def worths(self, states: States, seats: NDArray[np.int64], net: Weights) -> Worths:
        """Return the worth of each legal action of `seats[i]`, the seat to move in `states[i]`.

        Args:
            states: states of games in progress, shape (n,). Information hidden from the seats has
                no influence.
            seats: the seats to move, int64, shape (n,).
            net: the judge's weights. If an action ends the game, the judge evaluates the final
                position, too. It does not see hidden information in the final position either.

        Raises:
            TypeError, ValueError: there is not one seat for each state, or a seat does not exist.
        """
        states, seats = state_checks.check_seats(self.game, states, seats)
        game = self.game
        states = game.taken(states, np.arange(states.size))  # a copy that no other code can change
        masks = game.legal_masks(states)
        numbers = masks.sum(axis=1, dtype=np.int64)
        first = numbers.cumsum() - numbers
        decisions, actions = map(np.ascontiguousarray, np.nonzero(masks))
        found = np.empty(decisions.size, np.float32)
        rows = 2 * threads.most_threads_for(states.size, least=LEAST_DECISIONS)
        spare = (np.full(rows, game.blank), np.full(rows, game.blank), scratch_of(net, rows))
        batch = Tries(states, seats, masks, first, net, *spare, found)
        game.run(try_actions, states.size, batch, least=LEAST_DECISIONS)
        np.nan_to_num(found, copy=False, nan=-1.0)  # NaN if a judge's weights are huge
        return Worths(decisions, actions, first, found)
