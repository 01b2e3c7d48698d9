"""What is not zero in the positions of a rollout, row by row.

An observation of Armada has over a thousand entries, of which some eighty are not zero: a product
with all of them is mostly of zeros.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiled import inlined
from armarl.game import Game
from armarl.loops import own
from armarl_training.devices import Array, LearnerDevice

SPARSE = 0.2  # of the entries: where fewer are not zero, it pays to pass over the others
_AT_ONCE = 16  # entries that are looked at together
_TRIED, _PLAYED = 64, 40  # games, and random actions in each, by which a game is judged


class Entries(NamedTuple):
    """The entries that are not zero: those of row i stand from `starts[i]` to `starts[i + 1]`."""

    starts: NDArray[np.int64]  # (rows + 1,)
    columns: NDArray[np.uint16]  # (k,), those of the secrets after those of the observation
    quantities: NDArray[Any]  # (k,), see `Quantities`


class Counts(NamedTuple):
    """Rows whose entries are counted."""

    quantities: NDArray[Any]  # (rows, size)
    secrets: NDArray[Any]  # (rows, secrets)
    numbers: NDArray[np.int64]  # (rows,) written


class Findings(NamedTuple):
    """Rows whose entries are noted."""

    quantities: NDArray[Any]  # (rows, size)
    secrets: NDArray[Any]  # (rows, secrets)
    spare: NDArray[np.uint16]  # (2 * threads, size + secrets + 1) scratch
    entries: Entries  # of which all but `starts` are written


def count_entries(batch: Counts, i: int, thread: int) -> None:
    """How many entries of row `i` are not zero."""
    number = 0
    for row in (batch.quantities[i], batch.secrets[i]):
        for k in range(row.size):
            number += row[k] != 0
    batch.numbers[i] = number


def find_entries(batch: Findings, i: int, thread: int) -> None:
    """Note those of row `i`."""
    seen, secrets, found = batch.quantities[i], batch.secrets[i], batch.spare[own(thread)]
    columns, quantities = batch.entries.columns, batch.entries.quantities
    start = batch.entries.starts[i]
    of_seen = _find(seen, found)
    for j in range(of_seen):
        columns[start + j] = found[j]
        quantities[start + j] = seen[found[j]]
    start += of_seen
    for j in range(_find(secrets, found)):
        columns[start + j] = seen.size + found[j]
        quantities[start + j] = secrets[found[j]]


@inlined
def _find(row: Any, found: Any) -> Any:
    """Write the columns that are not zero; returns how many they are."""
    number, whole = 0, row.size - row.size % _AT_ONCE
    for first in range(0, whole, _AT_ONCE):
        some = 0
        for k in range(_AT_ONCE):
            some |= row[first + k]
        if some:
            for k in range(first, first + _AT_ONCE):  # a zero will be written over
                found[number] = k
                number += row[k] != 0
    for k in range(whole, row.size):
        found[number] = k
        number += row[k] != 0
    return number


def entries_of(device: LearnerDevice, quantities: Array, secrets: Array) -> Entries:
    """The entries of rows (n, size) and of the secrets (n, secrets) beside them."""
    rows, size = len(quantities), quantities.shape[1] + secrets.shape[1]
    starts = np.zeros(rows + 1, np.int64)
    device.run(count_entries, rows, Counts(quantities, secrets, starts[1:]))
    np.cumsum(starts, out=starts)
    columns = np.empty(starts[-1], np.uint16)
    entries = Entries(starts, columns, np.empty(starts[-1], quantities.dtype))
    spare = np.empty((device.scratch_rows(rows), size + 1), np.uint16)
    device.run(find_entries, rows, Findings(quantities, secrets, spare, entries))
    return entries


@cache
def is_sparse(game: Game) -> bool:
    """Whether most entries of a game's observations are zero, by some games of random play.

    If they are so many that `Entries` cannot number them, the answer is no.
    """
    if game.players * game.observation.size > np.iinfo(np.uint16).max:
        return False
    states, chance = game.new_states(np.arange(_TRIED)), game.new_chance(np.arange(_TRIED))
    shares = []
    for _ in range(_PLAYED):
        playing, seats = game.statuses(states)
        states, seats = game.taken(states, np.flatnonzero(playing == 0)), seats[playing == 0]
        if states.size == 0:
            break
        shares.append(np.count_nonzero(game.views(states, seats)[0]) / states.size)
        actions = game.random_actions(game.legal_masks(states), chance[: states.size])
        game.apply(states, np.arange(states.size), actions)
    return float(np.mean(shares)) < SPARSE * game.observation.size
