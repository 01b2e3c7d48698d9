"""Checks of states from the caller: record type, shape and variant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import kernel
from armarl.compiler.types import States
from armarl.core.array_checks import check_apart, check_array, check_numbers, check_rows
from armarl.core.variant import Variant


def check_states(game: Variant, states: Any, *, written: bool = False) -> States:
    """Check that `states` is an array of shape (batch,) with records of this variant.

    Returns:
        A view of the states as a plain `numpy.ndarray`. Use it instead of the argument.

    Raises:
        TypeError: `states` is not an array of the game's records.
        ValueError: the array has another shape, it contains states of another variant, or it is
            read-only but would be written.
    """
    found, rows = _rows_of_bytes(game, states, written)
    _refuse_other(game, _first_other(rows, *game.option_bytes), len(rows))
    return found


def check_chosen(
    game: Variant, states: Any, games: Any, *, written: bool = False, once: bool = True
) -> tuple[States, NDArray[np.int64]]:
    """Check an array of records, shape (batch,), and the indices of the chosen records.

    The chosen records must belong to this variant. The other records may contain any bytes. With
    `once`, no index may occur twice.

    Returns:
        A view of the states as a plain `numpy.ndarray`, and a copy of the indices. Use them instead
        of the arguments.

    Raises:
        TypeError, ValueError: as in `check_states`, `check_rows` and `check_apart`.
    """
    found, rows = _rows_of_bytes(game, states, written)
    chosen = check_rows("games", games, len(rows), written=once)
    if written:
        check_apart(states=states, games=games)
    _refuse_other(game, _first_other_of(rows, chosen, *game.option_bytes), len(rows))
    return found, chosen


def _rows_of_bytes(game: Variant, states: Any, written: bool) -> tuple[States, NDArray[np.uint8]]:
    """Check everything about `states` except the variant, without copying the states.

    Returns:
        A view of the states, and their bytes, uint8 (batch, record size).
    """
    dtype = game.blank.dtype
    if issubclass(type(states), np.ndarray):
        other = np.ndarray.view(states, np.ndarray).dtype
        if other.names and other != dtype:
            raise TypeError(  # sizes only: listing the fields of both types would fill pages
                f"states must be records of {game.name}, of {dtype.itemsize} bytes each, not "
                f"records of another game or version, of {other.itemsize} bytes"
            )
    found = check_array("states", states, dtype, written=written)
    if found.ndim != 1:
        raise ValueError(f"states must have shape (batch,), not {found.shape}")
    return found, found.view(np.uint8).reshape(found.size, found.itemsize)


def _refuse_other(game: Variant, other: int, size: int) -> None:
    """Raise ValueError if there is a state of another variant.

    `other` is the index of the first such state, or `size` if there is none.
    """
    if other < size:
        raise ValueError(
            f"states[{other}] is of another variant of {game.name}; this game has "
            f"{game.players} players and the options {dict(game.options)}"
        )


@kernel
def _first_other(
    rows: NDArray[np.uint8], where: NDArray[np.int64], options: NDArray[np.uint8]
) -> int:
    """Return the index of the first row whose bytes at `where` differ from `options`.

    If there is no such row, return the number of rows.
    """
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
    """Return the result of `_first_other` for the chosen rows only."""
    for row in chosen:
        for i in range(where.size):
            if rows[row, where[i]] != options[i]:
                return int(row)
    return int(rows.shape[0])


def check_seats(game: Variant, states: Any, seats: Any) -> tuple[States, NDArray[np.int64]]:
    """Check states, and one seat for each state.

    Returns:
        A view of the states as a plain `numpy.ndarray`, and a copy of the seats. Use them instead
        of the arguments.

    Raises:
        TypeError, ValueError: an array has another dtype or size, or a seat is out of range.
    """
    found = check_states(game, states)
    return found, check_numbers("seats", seats, found.size, 0, game.players - 1)
