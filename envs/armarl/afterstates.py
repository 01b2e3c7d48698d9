"""Positions that actions lead to, as the seat that decides would survey them.

A judge of positions needs no policy beside: it tries every legal action on a copy and takes what
leads to the best one (TD-Gammon: Tesauro, 1995; afterstates: Sutton & Barto, 2018, section 6.8).
What the seat is not shown is dealt anew first, so that nothing of it can be seen by trying.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl import threads
from armarl.game import Game, States
from armarl.loops import Float32s, Float64s, Int8s, Int64s, own
from armarl.tables import ObservationTable
from armarl.verbs import verbs

ROWS_AT_ONCE = 8192
LEAST_DECISIONS = 2  # that are worth a thread of their own

# From surveys float32 (n, size) to the worth of each position for the seat, float32 (n,).
Judge = Callable[[NDArray[np.float32]], NDArray[np.float32]]


class Tries(NamedTuple):
    """Decisions whose legal actions are tried."""

    states: States  # (n,)
    seats: Int64s  # (n,) to move
    masks: Int8s  # (n, actions)
    first: Int64s  # (n,) row of the first legal action of each decision
    dealt: States  # (2 * threads,) scratch
    spare: States  # (2 * threads,) scratch
    surveys: Float32s  # (rows, size) written


def try_actions(batch: Tries, i: int, thread: int) -> None:
    """Try the legal actions of decision `i`, in the order of their ids."""
    mine, seat, row = own(thread), batch.seats[i], batch.first[i]
    batch.dealt[mine] = batch.states[i]
    verbs.determinise(batch.dealt[mine], seat, 0)
    for action in range(batch.masks.shape[1]):
        if batch.masks[i, action]:
            batch.spare[mine] = batch.dealt[mine]
            verbs.apply(batch.spare[mine], action)
            verbs.survey(batch.spare[mine], seat, batch.surveys[row])
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


def survey_of(game: Game) -> ObservationTable:
    """The survey of a game.

    Raises:
        ValueError: it has none, so that nothing can judge its positions.
    """
    if game.survey is None:
        raise ValueError(f"{game.name} has no survey, by which a network could judge its positions")
    return game.survey


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
        """What `seats[i]` surveys in `states[i]`: float32 (n, survey size)."""
        found = np.empty((states.size, self._table.size), np.float32)
        self.game.run(read_survey, states.size, Surveys(states, seats, found))
        return found

    def parts(self, states: States) -> NDArray[np.float64]:
        """What every seat's side took of each prize of finished games: (n, players, prizes)."""
        found = np.zeros((states.size, self.game.players, self.prizes))
        self.game.run(read_parts, states.size, Divisions(states, found))
        return found

    def worths(
        self,
        states: States,
        seats: NDArray[np.int64],
        judge: Judge,
    ) -> Worths:
        """What each legal action of `seats[i]`, to move in `states[i]`, leads to.

        Args:
            states: (n,) in play; what the seats are not shown makes no difference.
            judge: of positions; also of such as end the game, before all is revealed.
        """
        masks = self.game.legal_masks(states)
        numbers = masks.sum(axis=1, dtype=np.int64)
        ends = numbers.cumsum()
        decisions, actions = map(np.ascontiguousarray, np.nonzero(masks))
        found = np.empty(decisions.size, np.float32)
        rows = min(max(ROWS_AT_ONCE, int(numbers.max(initial=0))), decisions.size)
        surveys = np.empty((rows, self._table.size), np.float32)
        begin = 0
        while begin < states.size:
            start = int(ends[begin] - numbers[begin])
            end = max(int(np.searchsorted(ends, start + rows, side="right")), begin + 1)
            some, stop = slice(begin, end), int(ends[end - 1])
            first = ends[some] - numbers[some] - start
            self._try((states[some], seats[some], masks[some], first), surveys)
            found[start:stop] = judge(surveys[: stop - start])
            begin = end
        return Worths(decisions, actions, ends - numbers, found)

    def _try(
        self,
        tried: tuple[States, NDArray[np.int64], NDArray[np.int8], NDArray[np.int64]],
        surveys: NDArray[np.float32],
    ) -> None:
        """Write the surveys after the legal actions of decisions."""
        game, number = self.game, tried[0].size
        rows = 2 * threads.most_threads_for(number, least=LEAST_DECISIONS)
        scratch = (np.full(rows, game.blank), np.full(rows, game.blank))
        game.run(try_actions, number, Tries(*tried, *scratch, surveys), least=LEAST_DECISIONS)
