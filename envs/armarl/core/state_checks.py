"""Checks of states that come from outside: right record, right shape, right variant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import kernel
from armarl.core.array_checks import check_apart, check_array, check_numbers, check_rows
from armarl.core.variant import Variant


def check_states(game: Variant, states: Any, *, written: bool = False) -> None:
    """Check that it is an array (batch,) of records of this variant.

    Raises:
        TypeError: it is no array of the game's records.
        ValueError: it has another shape, or states of another variant, or may not be written.
    """
    rows = _rows_of_bytes(game, states, written)
    _refuse_other(game, _first_other(rows, *game.option_bytes), len(rows))


def check_chosen(
    game: Variant, states: Any, games: Any, *, written: bool = False, once: bool = True
) -> None:
    """Check records (batch,) and numbers of some of them, each there but `once`; those must be of
    this variant, the others may be anything.

    Raises:
        TypeError, ValueError: as `check_states`, `check_rows` and `check_apart`.
    """
    rows = _rows_of_bytes(game, states, written)
    check_rows("games", games, len(rows), written=once)
    if written:
        check_apart(states=states, games=games)
    _refuse_other(game, _first_other_of(rows, games, *game.option_bytes), len(rows))


def _rows_of_bytes(game: Variant, states: Any, written: bool) -> NDArray[np.uint8]:
    """States as bytes (batch, size), after a check of all but their variant."""
    dtype = game.blank.dtype
    if isinstance(states, np.ndarray) and states.dtype.names and states.dtype != dtype:
        raise TypeError(  # all the fields of both would fill pages
            f"states must be records of {game.name}, of {dtype.itemsize} bytes each, not of "
            f"another game or version, of {states.itemsize} bytes"
        )
    check_array("states", states, dtype, written=written)
    if states.ndim != 1:
        raise ValueError(f"states must have shape (batch,), not {states.shape}")
    rows: NDArray[np.uint8] = states.view(np.uint8).reshape(states.size, states.itemsize)
    return rows


def _refuse_other(game: Variant, other: int, size: int) -> None:
    """Raise ValueError if the number of a state of another variant is that of one."""
    if other < size:
        raise ValueError(
            f"states[{other}] is of another variant of {game.name} than this one, "
            f"{game.players} players and {dict(game.options)}"
        )


@kernel
def _first_other(
    rows: NDArray[np.uint8], where: NDArray[np.int64], options: NDArray[np.uint8]
) -> int:
    """The first row that does not hold the options at these places, or the number of rows."""
    for row in range(rows.shape[0]):
        for i in range(where.size):
            if rows[row, where[i]] != options[i]:
                return row
    return int(rows.shape[0])


@kernel
def _first_other_of(
    rows: NDArray[np.uint8],
    chosen: NDArray[np.int64],
    where: NDArray[np.int64],
    options: NDArray[np.uint8],
) -> int:
    """As `_first_other`, of those chosen."""
    for row in chosen:
        for i in range(where.size):
            if rows[row, where[i]] != options[i]:
                return int(row)
    return int(rows.shape[0])


def check_seats(game: Variant, states: Any, seats: Any) -> None:
    """Check states, and a seat for each.

    Raises:
        TypeError, ValueError: arrays of other types or sizes, or out of range.
    """
    check_states(game, states)
    check_numbers("seats", seats, states.size, 0, game.players - 1)
