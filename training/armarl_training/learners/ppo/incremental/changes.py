"""The changes in a seat's observation from one of its decisions to the next.

An observation of Armada has over a thousand entries. About eighty are not zero, and about six
change. An observation of two-player Armadora has 576 entries. Most changes there are the same for
every square of a territory, so only the start and the end of each run of equal changes are stored.
These few numbers are enough to compute the outputs of a network's first layer.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import inlined
from armarl.core.batch_loops import own
from armarl_training.learners.ppo.update.minibatch import InputChanges
from armarl_training.networks.integer_observations import IntegerObservations

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl_training.networks.learner_devices import Array, LearnerDevice

FEW = 0.2  # if less than this share of the entries must be stored, skipping the others is faster
_TRIED, _PLAYED = 64, 40  # number of games that measure the shares; random actions in each game


class EntryScratch(NamedTuple):
    """Scratch memory, with two rows for each thread."""

    changes: NDArray[np.int16]  # a 0, then the changes of all inputs
    # For each input its change or, for an alike input (see `alike_inputs`), its change minus the
    # change of the input before it; padded with zeros.
    steps: NDArray[np.int16]
    words: NDArray[np.int64]  # the memory of `steps`, with four of its numbers in each int64


def make_entry_scratch(device: LearnerDevice, rows: int, inputs: int) -> EntryScratch:
    """Allocate scratch memory for `rows` rows."""
    rows = device.scratch_rows(rows)
    steps = np.zeros((rows, 4 * -(-inputs // 4)), np.int16)
    return EntryScratch(np.zeros((rows, 1 + inputs), np.int16), steps, steps.view(np.int64))


class EntryRows(NamedTuple):
    """Rows to compare, in order: each with the row before it, or with zeros."""

    features: NDArray[Any]  # (n, size)
    secrets: NDArray[Any]  # (n, secrets)
    chosen: NDArray[np.int64]  # (rows,), indices into `features` and `secrets`
    anew: NDArray[np.bool_]  # (rows,), whether the row is compared with zeros
    nothing: NDArray[Any]  # (size + secrets,) zeros
    alike: NDArray[np.int16]  # (size + secrets,), see `alike_inputs`
    scratch: EntryScratch


class EntryCounts(NamedTuple):
    """Rows to compare, and the number of entries to store for each row."""

    rows: EntryRows
    numbers: NDArray[np.int64]  # (rows,) written


class EntryFindings(NamedTuple):
    """Rows, and the memory for their changes."""

    rows: EntryRows
    factors: NDArray[np.float32]  # (size + secrets,), factors that turn features into inputs
    entries: InputChanges  # `columns` and `changes` are written


def count_entries(batch: EntryCounts, i: int, thread: int) -> None:
    """Count the numbers to store for row `i`."""
    mine, scratch, number = own(thread), batch.rows.scratch, 0
    _compare(batch.rows, i, mine)
    words, steps = scratch.words[mine], scratch.steps[mine]
    for j in range(words.size):
        if words[j] != 0:
            for k in range(4 * j, 4 * j + 4):
                number += steps[k] != 0
    batch.numbers[i] = number


def find_entries(batch: EntryFindings, i: int, thread: int) -> None:
    """Store in `batch.entries` the changes from the row before to row `i`."""
    mine, entries = own(thread), batch.entries
    _compare(batch.rows, i, mine)
    start = entries.starts[i]
    columns, changes = entries.columns[start:], entries.changes[start:]
    note(batch.rows.scratch, mine, batch.factors, columns, changes)


@inlined
def _compare(rows: EntryRows, i: int, mine: int) -> None:
    """Compute the numbers to store for row `i`."""
    row, size = rows.chosen[i], rows.features.shape[1]
    seen, secrets = rows.features[row], rows.secrets[row]
    if rows.anew[i]:
        compare(seen, secrets, rows.nothing, rows.nothing[size:], rows.alike, rows.scratch, mine)
    else:
        before = rows.chosen[i - 1]
        seen_before, secrets_before = rows.features[before], rows.secrets[before]
        compare(seen, secrets, seen_before, secrets_before, rows.alike, rows.scratch, mine)


@inlined
def compare(
    seen: Any,
    secrets: Any,
    seen_before: Any,
    secrets_before: Any,
    alike: Any,
    scratch: EntryScratch,
    mine: int,
) -> None:
    """Compute the numbers to store for the changes, and write them to row `mine` of the scratch."""
    changes, steps, size = scratch.changes[mine], scratch.steps[mine], seen.size
    for k in range(size):
        changes[1 + k] = np.int16(seen[k]) - np.int16(seen_before[k])
    for k in range(secrets.size):
        changes[1 + size + k] = np.int16(secrets[k]) - np.int16(secrets_before[k])
    for k in range(alike.size):
        steps[k] = changes[1 + k] - (changes[k] & alike[k])


@inlined
def note(scratch: EntryScratch, mine: int, factors: Any, columns: Any, changes: Any) -> Any:
    """Write the columns and scaled values of the nonzero computed numbers. Return their number."""
    words, steps, number = scratch.words[mine], scratch.steps[mine], 0
    for j in range(words.size):
        if words[j] != 0:
            for k in range(4 * j, 4 * j + 4):
                if steps[k] != 0:
                    columns[number], changes[number] = k, steps[k] * factors[k]
                    number += 1
    return number


def entries_of(
    device: LearnerDevice,
    features: Array,
    secrets: Array,
    factors: NDArray[np.float32],
    alike: NDArray[np.int16],
    chosen: NDArray[np.int64],
    anew: NDArray[np.bool_],
) -> InputChanges:
    """Find the changes from one chosen row to the next.

    Args:
        features: (n, size).
        secrets: (n, secrets), of the same rows.
        factors: (size + secrets,), factors that turn features into inputs, see `InputReader`.
        alike: (size + secrets,), see `alike_inputs`.
        chosen: (rows,), indices of rows of `features` and `secrets`.
        anew: (rows,), whether a row is compared with zeros. True for the first row.
    """
    number, size = chosen.size, features.shape[1] + secrets.shape[1]
    starts, nothing = np.zeros(number + 1, np.int64), np.zeros(size, features.dtype)
    scratch = make_entry_scratch(device, number, size)
    rows = EntryRows(
        features=np.ascontiguousarray(features),
        secrets=np.ascontiguousarray(secrets),
        chosen=chosen,
        anew=anew,
        nothing=nothing,
        alike=alike,
        scratch=scratch,
    )
    device.run(count_entries, number, EntryCounts(rows, starts[1:]))
    np.cumsum(starts, out=starts)
    columns, changes = np.empty(starts[-1], np.uint16), np.empty(starts[-1], np.float32)
    entries = InputChanges(starts, columns, changes, anew)
    device.run(find_entries, number, EntryFindings(rows, factors, entries))
    return entries


class Shares(NamedTuple):
    """Shares of a game's observations that incremental passes store, measured by random play.

    Attributes:
        anew: share of the entries to store if an observation is compared with zeros, as the first
            observation of a chain is.
        after: share of the entries to store if an observation is compared with the seat's last one.
        legal: share of the actions that are legal.
        alike: bool (size,), the inputs that mostly change like the input before them in their
            block.
    """

    anew: float
    after: float
    legal: float
    alike: NDArray[np.bool_]


@cache
def shares_of(game: Game) -> Shares:
    """Measure by random play how much of a game's observations must be stored, see `Shares`."""
    kept = IntegerObservations(game)
    first, changes, legal = _observed(kept)
    alike = np.zeros(game.observation.size, np.bool_)
    # With features larger than a byte, differences between changes may not fit an int16.
    for block in game.observation.blocks if kept.dtype == np.uint8 else ():
        place = game.observation.slices[block.name]
        steps = np.diff(changes[:, place], axis=1)
        if np.count_nonzero(steps) < np.count_nonzero(changes[:, place][:, 1:]):
            alike[place][1:] = kept.scales[place][1:] == kept.scales[place][:-1]

    def noted(rows: NDArray[Any]) -> float:
        before = np.where(alike, np.roll(rows, 1, axis=1), 0)
        return float(np.mean(rows != before)) if rows.size else 1.0

    return Shares(noted(first), noted(changes), legal, alike)


def _observed(kept: IntegerObservations) -> tuple[NDArray[Any], NDArray[Any], float]:
    """Return observations as integer features, their changes, and the share of legal actions."""
    game, size = kept.game, kept.scales.size
    states, chance = game.new_states(np.arange(_TRIED)), game.new_chance(np.arange(_TRIED))
    games = np.arange(_TRIED)
    before: dict[tuple[int, int], NDArray[Any]] = {}
    rows, changes, legal = [], [], []
    for _ in range(_PLAYED):
        playing, seats = game.statuses(states)
        on = np.flatnonzero(playing == 0)
        states, seats, games, chance = game.taken(states, on), seats[on], games[on], chance[on]
        if states.size == 0:
            break
        observations, masks = game.views(states, seats)
        features = np.zeros(observations.shape, kept.dtype)
        kept.keep(observations, features)
        players = zip(games.tolist(), seats.tolist(), strict=True)
        for who, row in zip(players, features.astype(int), strict=True):
            if who in before:
                changes.append(row - before[who])
            before[who] = row
            rows.append(row)
        legal.append(float(masks.mean()))
        actions = game.random_actions(masks, chance)
        game.apply(states, np.arange(states.size), actions)
    found = np.array(rows), np.array(changes, int).reshape(-1, size)
    return *found, float(np.mean(legal))


@cache
def alike_inputs(game: Game) -> NDArray[np.int16]:
    """Return -1 for each input of the critic that is alike (see `Shares.alike`), 0 for others."""
    alike, private = shares_of(game).alike, IntegerObservations(game).private
    beside = np.diff(private, prepend=-1) == 1
    secrets = np.tile(alike[private] & beside, game.players - 1)
    return -np.concatenate([alike, secrets]).astype(np.int16)
