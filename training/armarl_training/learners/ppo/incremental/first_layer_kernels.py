"""The compiled loops of `first_layer`: the first layer's outputs, and gradients of its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import inlined, kernel, summed
from armarl_training.learners.ppo.incremental.changes import EntryScratch, compare, note

if TYPE_CHECKING:
    from armarl_training.learners.ppo.update.buffers import Floats
    from armarl_training.learners.ppo.update.minibatch import InputChanges

CHUNK = 256  # number of rows in one step of the backward pass


class Table(NamedTuple):
    """Weights of some inputs, or their gradients, with one row per input."""

    alike: NDArray[np.int16]  # (inputs,), see `alike_inputs`
    weights: Floats  # (inputs, units)


class Tables(NamedTuple):
    """The tables of the observation, for both networks, and of the secrets, for the critic only."""

    seen: Table  # the observation's weights, for the first layers of actor and critic
    secrets: Table  # the secrets' weights, for the critic's first layer


class FirstForward(NamedTuple):
    """Rows for the first layer. Each depends on the previous row, so one thread computes all."""

    rows: NDArray[np.int64]  # (n,), indices of the rows in `entries`
    entries: InputChanges
    tables: Tables
    biases: Floats  # (units,)
    found: Floats  # (n, units) written


def forward_first(batch: FirstForward, i: int, thread: int) -> None:
    """Compute the first layer's outputs for row `i`: the previous row's, plus the changes."""
    starts, columns, changes, anew = batch.entries
    row, found = batch.rows[i], batch.found[i]
    before = batch.biases if anew[row] else batch.found[i - 1]
    for unit in range(found.size):
        found[unit] = before[unit]
    some = slice(starts[row], starts[row + 1])
    _add_changes(columns[some], changes[some], batch.tables, found)


class FirstBackward(NamedTuple):
    """The backward pass to the first layer's weights. It adds up sums, so it uses one thread."""

    rows: NDArray[np.int64]  # (n,), indices of the rows in `entries`
    entries: InputChanges
    slopes: Floats  # (n, units), gradients of the outputs; overwritten
    places: NDArray[np.int64]  # (inputs + 1,) scratch
    sorted_rows: NDArray[np.int64]  # (maximum number of entries of CHUNK rows,) scratch
    sorted_changes: Floats  # (maximum number of entries of CHUNK rows,) scratch
    tables: Tables  # gradients of the weights; updated


def backward_first(batch: FirstBackward, i: int, thread: int) -> None:
    """Add the gradients of the `i`-th chunk of rows, counted from the end.

    The loop goes column by column (input by input), so that the gradients of a column are fetched
    once for the whole chunk.
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
    """Add the sorted changes to the gradients of a table.

    Args:
        before: number of columns before the table's first column.
        apart: number of units of the slopes before the table's first unit.
    """
    slopes, rows, changes = batch.slopes, batch.sorted_rows, batch.sorted_changes
    ends = batch.places
    for column in range(len(table.weights)):
        first = ends[before + column - 1] if before + column > 0 else 0
        total, last = table.weights[column], ends[before + column]
        add_rows(total, slopes, rows, changes, first, last, 0, apart)


@inlined
def _hand_back(batch: FirstBackward, first: int, last: int) -> None:
    """Add each row's gradient to the gradient of the previous row in the same chain."""
    for back in range(last - first):
        j = last - 1 - back
        if not batch.entries.anew[batch.rows[j]]:
            add(batch.slopes[j - 1], batch.slopes[j], np.float32(1))


@inlined
def _sort_by_column(batch: FirstBackward, first: int, last: int) -> None:
    """Sort the changes of some rows by column, and store the row of each change.

    On return, `places` contains the end of each column.
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
    """Games whose next positions go through the first layer."""

    features: NDArray[Any]  # (games, size)
    secrets: NDArray[Any]  # (games, secrets)
    movers: NDArray[np.int64]  # (games,)
    alike: NDArray[np.int16]  # (inputs,), see `alike_inputs`
    factors: Floats  # (inputs,), multiply the features
    tables: Tables
    kept: NDArray[Any]  # (games, players, inputs), the features that each seat saw last; updated
    sums: Floats  # (games, players, units), the outputs for these features; updated
    scratch: EntryScratch
    columns: NDArray[np.uint16]  # (2 * threads, inputs) scratch
    changes: Floats  # (2 * threads, inputs) scratch
    found: Floats  # (games, units) written


@inlined
def follow(batch: Following, i: int, mine: int) -> None:
    """Compute the first layer's outputs in game `i` from its outputs at the mover's last decision.

    Row `mine` of the scratch is overwritten.
    """
    mover, seen, secrets = batch.movers[i], batch.features[i], batch.secrets[i]
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
    """Add the effect of changed inputs to the layer's outputs."""
    seen, secrets = tables
    size, number = len(seen.weights), 0
    for k in range(columns.size):
        number += columns[k] < size
    apart = seen.weights.shape[1] - secrets.weights.shape[1]
    add_rows(total, seen.weights, columns, changes, 0, number, 0, 0)
    add_rows(total[apart:], secrets.weights, columns, changes, number, columns.size, size, 0)


@kernel
def for_changes(table: Table) -> None:
    """Turn the weights of inputs into weights of stored changes, in place.

    A change that is stored at one input also changes the `alike` inputs that follow it.
    """
    weights = table.weights
    for back in range(1, len(weights)):
        row = len(weights) - back
        if table.alike[row]:
            add(weights[row - 1], weights[row], np.float32(1))


@kernel
def for_inputs(table: Table) -> None:
    """Turn gradients of the weights of changes into those of the weights of inputs, in place."""
    for row in range(1, len(table.weights)):
        if table.alike[row]:
            add(table.weights[row], table.weights[row - 1], np.float32(1))


@inlined
def add_rows(
    total: Any,
    table: Any,
    chosen: Any,
    factors: Any,
    first: int,
    last: int,
    before: int,
    apart: int,
) -> None:
    """Add multiples of rows of a table to a row of numbers.

    Args:
        total: the row of numbers, float32, shape (units,), updated.
        table: the table, float32.
        chosen: integers. Rows `chosen[first:last] - before` of the table are added.
        factors: the factor of each chosen row, float32, parallel to `chosen`.
        first: index in `chosen` of the first row.
        last: index in `chosen` after the last row.
        before: number that is subtracted from each index in `chosen`.
        apart: number of columns of the table to skip.
    """
    for j in range(first, last):
        add(total, table[chosen[j] - before][apart:], factors[j])


@summed
def add(total: Any, x: Any, factor: Any) -> None:
    """Add a multiple of `x` to a total."""
    for k in range(total.size):
        total[k] += factor * x[k]
