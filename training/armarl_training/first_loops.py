"""The loops of `first_layer`: from what changes to the first layer's outputs, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiled import inlined, kernel, summed
from armarl.loops import own
from armarl_training.entries import Entries, Spare, compare, note

Floats = NDArray[np.float32]
CHUNK = 256  # rows that go back together


class Table(NamedTuple):
    """Weights or their gradients, one row for each of some inputs."""

    alike: NDArray[np.int16]  # (inputs,), see `alike_inputs`
    factors: Floats  # (inputs,), by which quantities are multiplied
    weights: Floats  # (inputs, units)


class Tables(NamedTuple):
    """Those of the inputs of both, and of the secrets, which the critic alone is told."""

    seen: Table  # with the units of both
    secrets: Table  # with the critic's


class First(NamedTuple):
    """Rows that go through the first layer. From row to row, so by one thread alone."""

    rows: NDArray[np.int64]  # (n,), of the entries
    entries: Entries
    tables: Tables
    biases: Floats  # (units,)
    found: Floats  # (n, units) written


def go_in(batch: First, i: int, thread: int) -> None:
    """What the first layer finds in row `i`: what it found before, and what changes."""
    starts, columns, changes, anew = batch.entries
    row, found = batch.rows[i], batch.found[i]
    before = batch.biases if anew[row] else batch.found[i - 1]
    for unit in range(found.size):
        found[unit] = before[unit]
    some = slice(starts[row], starts[row + 1])
    _add_changes(columns[some], changes[some], batch.tables, found)


class FirstBack(NamedTuple):
    """The way back to the first layer's weights. Sums are taken, so by one thread alone."""

    rows: NDArray[np.int64]  # (n,), of the entries
    entries: Entries
    slopes: Floats  # (n, units), gradients of what was found; written over
    places: NDArray[np.int64]  # (inputs + 1,) scratch
    sorted_rows: NDArray[np.int64]  # (most entries of CHUNK rows,) scratch
    sorted_changes: Floats  # (most entries of CHUNK rows,) scratch
    tables: Tables  # of gradients, to which those of the rows are added


def go_back(batch: FirstBack, i: int, thread: int) -> None:
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
def _add_columns(batch: FirstBack, before: int, table: Table, apart: int) -> None:
    """Add what has been sorted to the gradients of a table.

    Args:
        before: columns that are not the table's, before those that are.
        apart: units of the slopes that are not the table's, before those that are.
    """
    slopes, rows, changes = batch.slopes, batch.sorted_rows, batch.sorted_changes
    ends, weights = batch.places, table.weights
    j = ends[before - 1] if before > 0 else 0
    for column in range(len(weights)):
        total, end = weights[column], ends[before + column]
        while j + 4 <= end:
            x, y = slopes[rows[j]][apart:], slopes[rows[j + 1]][apart:]
            z, w = slopes[rows[j + 2]][apart:], slopes[rows[j + 3]][apart:]
            p, q, r, s = changes[j], changes[j + 1], changes[j + 2], changes[j + 3]
            add_four(total, x, y, z, w, p, q, r, s)
            j += 4
        while j < end:
            add(total, slopes[rows[j]][apart:], changes[j])
            j += 1


@inlined
def _hand_back(batch: FirstBack, first: int, last: int) -> None:
    """Have every row bear what follows from it in the rest of its chain as well."""
    for back in range(last - first):
        j = last - 1 - back
        if not batch.entries.anew[batch.rows[j]]:
            add(batch.slopes[j - 1], batch.slopes[j], np.float32(1))


@inlined
def _sort_by_column(batch: FirstBack, first: int, last: int) -> None:
    """Write the changes of some rows, as inputs, and of which row each is, column by column.

    In `places` where those of each column end.
    """
    starts, columns, changes, _ = batch.entries
    places, (seen, secrets) = batch.places, batch.tables
    size = len(seen.weights)
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
            of_secrets = column >= size
            factor = secrets.factors[column - size] if of_secrets else seen.factors[column]
            batch.sorted_changes[place] = changes[k] * factor
            places[column] = place + 1


class Following(NamedTuple):
    """Games at whose next positions the first layer looks."""

    quantities: NDArray[Any]  # (games, size)
    secrets: NDArray[Any]  # (games, secrets)
    movers: NDArray[np.int64]  # (games,)
    alike: NDArray[np.int16]  # (inputs,), see `alike_inputs`
    tables: Tables
    kept: NDArray[Any]  # (games, players, inputs), what each saw last; written
    sums: Floats  # (games, players, units), what was found in it; written
    spare: Spare
    columns: NDArray[np.uint16]  # (2 * threads, inputs) scratch
    changes: NDArray[np.int16]  # (2 * threads, inputs) scratch
    found: Floats  # (games, units) written


def follow(batch: Following, i: int, thread: int) -> None:
    """What the first layer finds in game `i`, from what it found in what the mover saw last."""
    mine, mover, seen, secrets = own(thread), batch.movers[i], batch.quantities[i], batch.secrets[i]
    kept, sums, size = batch.kept[i, mover], batch.sums[i, mover], seen.size
    columns, changes = batch.columns[mine], batch.changes[mine]
    compare(seen, secrets, kept, kept[size:], batch.alike, batch.spare, mine)
    number = note(batch.spare, mine, columns, changes)
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
    _add_rows(columns[:number], changes[:number], 0, seen, total)
    _add_rows(columns[number:], changes[number:], size, secrets, total[apart:])


@inlined
def _add_rows(columns: Any, changes: Any, before: int, table: Table, total: Any) -> None:
    """Add multiples of rows of a table. `before` its columns there are so many others."""
    weights, factors, k = table.weights, table.factors, 0
    while k + 4 <= columns.size:
        a, b = columns[k] - before, columns[k + 1] - before
        c, d = columns[k + 2] - before, columns[k + 3] - before
        p, q = changes[k] * factors[a], changes[k + 1] * factors[b]
        r, s = changes[k + 2] * factors[c], changes[k + 3] * factors[d]
        add_four(total, weights[a], weights[b], weights[c], weights[d], p, q, r, s)
        k += 4
    while k < columns.size:
        a = columns[k] - before
        add(total, weights[a], np.float32(changes[k] * factors[a]))
        k += 1


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


@summed
def add_four(total: Any, x: Any, y: Any, z: Any, w: Any, p: Any, q: Any, r: Any, s: Any) -> None:
    """Add multiples of four at once, which reads and writes the total but once."""
    p, q, r, s = np.float32(p), np.float32(q), np.float32(r), np.float32(s)
    for k in range(total.size):
        total[k] += (p * x[k] + q * y[k]) + (r * z[k] + s * w[k])
