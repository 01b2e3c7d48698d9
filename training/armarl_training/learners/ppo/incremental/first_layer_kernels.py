"""The loops of `first_layer`: from what changes to the first layer's outputs, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import inlined, kernel, summed
from armarl_training.learners.ppo.incremental.changes import EntryScratch, compare, note
from armarl_training.learners.ppo.incremental.simd_rows import add_rows

if TYPE_CHECKING:
    from armarl_training.learners.ppo.update.buffers import Floats
    from armarl_training.learners.ppo.update.minibatch import Entries

CHUNK = 256  # rows whose backward pass is one


class Table(NamedTuple):
    """Weights or their gradients, one row for each of some inputs."""

    alike: NDArray[np.int16]  # (inputs,), see `alike_inputs`
    weights: Floats  # (inputs, units)


class Tables(NamedTuple):
    """Those of the inputs of both, and of the secrets, which the critic alone is told."""

    seen: Table  # with the units of both
    secrets: Table  # with the critic's


class FirstForward(NamedTuple):
    """Rows that go through the first layer. From row to row, so by one thread alone."""

    rows: NDArray[np.int64]  # (n,), of the entries
    entries: Entries
    tables: Tables
    biases: Floats  # (units,)
    found: Floats  # (n, units) written


def forward_first(batch: FirstForward, i: int, thread: int) -> None:
    """What the first layer finds in row `i`: what it found before, and what changes."""
    starts, columns, changes, anew = batch.entries
    row, found = batch.rows[i], batch.found[i]
    before = batch.biases if anew[row] else batch.found[i - 1]
    for unit in range(found.size):
        found[unit] = before[unit]
    some = slice(starts[row], starts[row + 1])
    _add_changes(columns[some], changes[some], batch.tables, found)


class FirstBackward(NamedTuple):
    """The backward pass to the first layer's weights. Sums are taken, so by one thread alone."""

    rows: NDArray[np.int64]  # (n,), of the entries
    entries: Entries
    slopes: Floats  # (n, units), gradients of what was found; written over
    places: NDArray[np.int64]  # (inputs + 1,) scratch
    sorted_rows: NDArray[np.int64]  # (most entries of CHUNK rows,) scratch
    sorted_changes: Floats  # (most entries of CHUNK rows,) scratch
    tables: Tables  # of gradients, to which those of the rows are added


def backward_first(batch: FirstBackward, i: int, thread: int) -> None:
    """What some rows add to the gradients of the weights of their changes; the last rows first.

    Column by column, so that the weights of each are fetched once for all of these rows.
    """
    last = batch.rows.size - CHUNK * i
    first = max(last - CHUNK, 0)
    _hand_back(batch, first, last)
    _sort_by_column(batch, first, last)
    seen, secrets = batch.tables
    _add_columns(batch, 0, seen, 0)
    _add_columns(
        batch, len(seen.weights), secrets, seen.weights.shape[1] - secrets.weights.shape[1]
    )


@inlined
def _add_columns(batch: FirstBackward, before: int, table: Table, apart: int) -> None:
    """Add what has been sorted to the gradients of a table.

    Args:
        before: columns that are not the table's, before those that are.
        apart: units of the slopes that are not the table's, before those that are.
    """
    slopes, rows, changes = batch.slopes, batch.sorted_rows, batch.sorted_changes
    ends = batch.places
    for column in range(len(table.weights)):
        first = ends[before + column - 1] if before + column > 0 else 0
        total, last = table.weights[column], ends[before + column]
        add_rows(total, slopes, rows, changes, first, last, 0, apart)


@inlined
def _hand_back(batch: FirstBackward, first: int, last: int) -> None:
    """Have every row bear what follows from it in the rest of its chain as well."""
    for back in range(last - first):
        j = last - 1 - back
        if not batch.entries.anew[batch.rows[j]]:
            add(batch.slopes[j - 1], batch.slopes[j], np.float32(1))


@inlined
def _sort_by_column(batch: FirstBackward, first: int, last: int) -> None:
    """Write the changes of some rows, and of which row each is, column by column.

    In `places` where those of each column end.
    """
    starts, columns, changes, _ = batch.entries
    places = batch.places
    places[:] = 0
    for row in batch.rows[first:last]:
        for k in range(starts[row], starts[row + 1]):
            places[columns[k] + 1] += 1
    for column in range(1, places.size):
        places[column] += places[column - 1]
    for j in range(first, last):
        row = batch.rows[j]
        for k in range(starts[row], starts[row + 1]):
            column = columns[k]
            place = places[column]
            batch.sorted_rows[place] = j
            batch.sorted_changes[place] = changes[k]
            places[column] = place + 1


class Following(NamedTuple):
    """Games at whose next positions the first layer looks."""

    quantities: NDArray[Any]  # (games, size)
    secrets: NDArray[Any]  # (games, secrets)
    movers: NDArray[np.int64]  # (games,)
    alike: NDArray[np.int16]  # (inputs,), see `alike_inputs`
    factors: Floats  # (inputs,), by which quantities are multiplied
    tables: Tables
    kept: NDArray[Any]  # (games, players, inputs), what each saw last; written
    sums: Floats  # (games, players, units), what was found in it; written
    scratch: EntryScratch
    columns: NDArray[np.uint16]  # (2 * threads, inputs) scratch
    changes: Floats  # (2 * threads, inputs) scratch
    found: Floats  # (games, units) written


@inlined
def follow(batch: Following, i: int, mine: int) -> None:
    """What the first layer finds in game `i`, from what it found in what the mover saw last.

    Row `mine` of the scratch is written over.
    """
    mover, seen, secrets = batch.movers[i], batch.quantities[i], batch.secrets[i]
    kept, sums, size = batch.kept[i, mover], batch.sums[i, mover], seen.size
    columns, changes = batch.columns[mine], batch.changes[mine]
    compare(seen, secrets, kept, kept[size:], batch.alike, batch.scratch, mine)
    number = note(batch.scratch, mine, batch.factors, columns, changes)
    _add_changes(columns[:number], changes[:number], batch.tables, sums)
    for k in range(size):
        kept[k] = seen[k]
    for k in range(secrets.size):
        kept[size + k] = secrets[k]
    for unit in range(sums.size):
        batch.found[i, unit] = sums[unit]


@inlined
def _add_changes(columns: Any, changes: Any, tables: Tables, total: Any) -> None:
    """Add what changes of inputs make of the layer's outputs."""
    seen, secrets = tables
    size, number = len(seen.weights), 0
    for k in range(columns.size):
        number += columns[k] < size
    apart = seen.weights.shape[1] - secrets.weights.shape[1]
    add_rows(total, seen.weights, columns, changes, 0, number, 0, 0)
    add_rows(total[apart:], secrets.weights, columns, changes, number, columns.size, size, 0)


@kernel
def for_changes(table: Table) -> None:
    """From weights of inputs to those of changes: where one is alike, it counts for both."""
    weights = table.weights
    for back in range(1, len(weights)):
        row = len(weights) - back
        if table.alike[row]:
            add(weights[row - 1], weights[row], np.float32(1))


@kernel
def for_inputs(table: Table) -> None:
    """From gradients of the weights of changes to those of inputs."""
    for row in range(1, len(table.weights)):
        if table.alike[row]:
            add(table.weights[row], table.weights[row - 1], np.float32(1))


@summed
def add(total: Any, x: Any, factor: Any) -> None:
    """Add a multiple to a total."""
    for k in range(total.size):
        total[k] += factor * x[k]
