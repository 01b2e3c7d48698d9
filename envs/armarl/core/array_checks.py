"""What the doors of `Game` check: compiled loops trust whatever passes here.

They run without bounds checks, so an array must be of the right type, lie in one piece, be long
enough, and may be written if it will be; what chooses rows must be within them, and where rows are
written it must choose none twice, since threads share them. States must be of the same variant: of
two variants that have one type of record, one has actions or seats that the other has no room for.
"""

from __future__ import annotations

import operator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.compiler.decorators import kernel
from armarl.core.verbs import PLAYING

if TYPE_CHECKING:
    from armarl.core.game import Game, States

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
LARGEST_BATCH = 1 << 31  # in games


def check_array(name: str, array: Any, dtype: Any, *, written: bool = False) -> None:
    """Check type, memory and, if it is `written`, leave to write.

    Raises:
        TypeError: it is no array of this type.
        ValueError: it does not lie in one piece, or may not be written.
    """
    plain = isinstance(array, np.ndarray) and not isinstance(array, np.ma.MaskedArray)
    if not plain or array.dtype != dtype:
        found = array.dtype if plain else type(array).__name__
        raise TypeError(f"{name} must be an array of {_named(np.dtype(dtype))}, not {found}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"{name} must lie in one piece of memory (np.ascontiguousarray)")
    if written and not array.flags.writeable:
        raise ValueError(f"{name} would be written, and may only be read; give a copy")


def check_apart(**arrays: Any) -> None:
    """Check that no two arrays, NumPy's or torch's, lie in the same memory: while loops write into
    one they would change what was checked of another.

    Raises:
        ValueError: two of them do.
    """
    for (one, first), (other, second) in combinations(arrays.items(), 2):
        if _share_memory(first, second):
            raise ValueError(
                f"{_said(one)} and {_said(other)} must not share memory; give a copy of one of them"
            )


def _said(name: str) -> str:
    """An argument's name as its caller reads it: `out_seats` is `out.seats`."""
    return name.replace("out_", "out.")


def _share_memory(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    (begin, end), (other_begin, other_end) = (
        (tensor.data_ptr(), tensor.data_ptr() + tensor.numel() * tensor.element_size())
        for tensor in (one, other)
    )
    return bool(begin < other_end and other_begin < end)


def takes(array: Any, shape: tuple[int, ...], dtype: Any) -> bool:
    """Whether compiled loops may write into it as an array of this shape and type."""
    return (
        isinstance(array, np.ndarray)
        and (array.shape, array.dtype) == (shape, dtype)
        and array.flags.carray
    )


def _named(dtype: np.dtype[Any]) -> str:
    if dtype.names:
        return "the game's records (of an environment, what its concealed_state() gives)"
    return str(dtype)


def check_states(game: Game, states: Any, *, written: bool = False) -> None:
    """Check that it is an array (batch,) of records of this variant.

    Raises:
        TypeError: it is no array of the game's records.
        ValueError: it has another shape, or states of another variant, or may not be written.
    """
    rows = _rows_of_bytes(game, states, written)
    _refuse_other(game, _first_other(rows, *game.option_bytes), len(rows))


def check_chosen(
    game: Game, states: Any, games: Any, *, written: bool = False, once: bool = True
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


def _rows_of_bytes(game: Game, states: Any, written: bool) -> NDArray[np.uint8]:
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


def _refuse_other(game: Game, other: int, size: int) -> None:
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


def check_rows(name: str, rows: Any, count: int, *, written: bool = False) -> None:
    """Check numbers of rows, int64 (n,), all in 0 to `count` - 1; each once if they are written.

    Raises:
        TypeError: it is no array of int64.
        ValueError: it has another shape, or there are no such rows, or one stands there twice.
    """
    check_numbers(name, rows, None, 0, count - 1)
    if written and rows.size > 1:
        chosen = np.zeros(count, np.bool_)
        chosen[rows] = True
        if np.count_nonzero(chosen) != rows.size:
            raise ValueError(f"{name} must not have a number twice")


def check_numbers(
    name: str, numbers: Any, size: int | None, low: int = _LOWEST, high: int = _HIGHEST
) -> None:
    """Check int64 (size,), or of any size, all from `low` to `high`.

    Raises:
        TypeError: it is no array of int64.
        ValueError: it has another shape, or numbers out of range.
    """
    check_array(name, numbers, np.int64)
    check_size(name, numbers, size)
    if numbers.size and (low > _LOWEST or high < _HIGHEST):
        lowest, highest = numbers.min(), numbers.max()
        if lowest < low or highest > high:
            wrong = lowest if lowest < low else highest
            raise ValueError(f"{name} must be in {low} to {high}, not {wrong}")


def check_seats(game: Game, states: Any, seats: Any) -> None:
    """Check states, and a seat for each.

    Raises:
        TypeError, ValueError: arrays of other types or sizes, or out of range.
    """
    check_states(game, states)
    check_numbers("seats", seats, states.size, 0, game.players - 1)


def check_question(game: Game, states: Any, seats: Any, draws: Any) -> None:
    """Check what `Player.choose` takes: states, and for each a seat and a draw in [0, 1).

    Raises:
        TypeError, ValueError: arrays of other types or sizes, or out of range.
    """
    check_seats(game, states, seats)
    check_array("draws", draws, np.float64)
    check_size("draws", draws, states.size)
    if draws.size and not (draws.min() >= 0 and draws.max() < 1):
        raise ValueError("draws must be in [0, 1)")


def check_movers(game: Game, states: States, seats: NDArray[np.int64]) -> None:
    """Raise ValueError unless every seat is the one to move, in games that are not over."""
    statuses, movers = game.statuses(states)
    wrong = np.flatnonzero((statuses == PLAYING) & (seats != movers))
    if wrong.size:
        i = wrong[0]
        raise ValueError(f"seat {seats[i]} is asked in state {i}, where {movers[i]} is to move")


def check_size(name: str, column: NDArray[Any], size: int | None) -> None:
    """Raise ValueError unless there is one item for each of `size` games, if that is a number."""
    if column.ndim != 1 or (size is not None and column.size != size):
        wanted = "(n,)" if size is None else f"({size},), one for each game"
        raise ValueError(f"{name} must have shape {wanted}, not {column.shape}")


def check_masks(masks: Any, actions: int) -> None:
    """Check masks: int8 (batch, actions) of 0 and 1.

    Raises:
        TypeError: it is no array of int8.
        ValueError: it has another shape or other numbers.
    """
    check_array("masks", masks, np.int8)
    if masks.ndim != 2 or masks.shape[1] != actions:
        raise ValueError(f"masks must have shape (batch, {actions}), not {masks.shape}")
    if masks.size and (masks.view(np.uint8) > 1).any():
        raise ValueError("masks must hold 0 and 1 alone")


def action_number(action: Any) -> int:
    """An action that a caller gives, as an int64; beyond those the nearest, which is no id either.

    Raises:
        TypeError: it is no integer (True and 1.0 are none).
    """
    if type(action) is int or type(action) is np.int64:  # in a tenth of the time
        number = int(action)
    elif isinstance(action, bool | np.bool_):
        raise TypeError(f"an action must be an integer, not {action!r}")
    else:
        try:
            number = operator.index(action)
        except TypeError:
            shown = brief(repr(action), 60)
            raise TypeError(f"an action must be an integer, not {shown}") from None
    return min(max(number, _LOWEST), _HIGHEST)


def is_whole(number: Any) -> bool:
    """Whether it is an integer; True and 1.0 are none."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def whole_number(name: str, number: Any, low: int, high: int) -> int:
    """A number that a user gives, as an int.

    Raises:
        TypeError: it is no integer (True and 1.0 are none).
        ValueError: it is out of range.
    """
    if not is_whole(number):
        raise TypeError(f"{name} must be an integer, not {number!r}")
    if not low <= number <= high:
        raise ValueError(f"{name} must be in {_range(low, high)}, not {number}")
    return int(number)


def _range(low: int, high: int) -> str:
    if (low, high) == (_LOWEST, _HIGHEST):
        return "-2**63 to 2**63 - 1"
    return f"{low} to {high}"


def seed_numbers(seeds: Any) -> NDArray[np.int64]:
    """Seeds that a user gives, an integer or several, as int64 (n,).

    Raises:
        TypeError: they are no integers.
        ValueError: one is no int64, or they have another shape.
    """
    found = np.asarray(seeds)
    if found.dtype == np.int64 and found.ndim == 1:
        return np.ascontiguousarray(found)
    if found.ndim > 1:
        raise ValueError(f"seeds must be one integer or have shape (n,), not {found.shape}")
    if found.size == 0:
        return np.empty(0, np.int64)
    numbers = [whole_number("a seed", seed, _LOWEST, _HIGHEST) for seed in np.atleast_1d(found)]
    return np.array(numbers, np.int64)
