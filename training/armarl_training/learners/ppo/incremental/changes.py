"""What changes in what a seat sees from one of its decisions to the next.

An observation of Armada has over a thousand entries, of which some eighty are not zero and some
six change. One of two-player Armadora has 576, and most of what changes there is told of every
square of a territory, so it is noted where it begins and where it ends. What the first layer of a
network makes of an observation follows from these few numbers alone.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import inlined
from armarl.core.batch_loops import own
from armarl_training.learners.ppo.update.minibatch import Entries
from armarl_training.networks.integer_observations import Quantities

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl_training.networks.learner_devices import Array, LearnerDevice

FEW = 0.2  # of the entries: where fewer are to be noted, it pays to pass over the others
_TRIED, _PLAYED = 64, 40  # games, and random actions in each, by which a game is judged


class EntryScratch(NamedTuple):
    """Scratch, of as many rows as there are threads, twice."""

    changes: NDArray[np.int16]  # a 0, and after it the changes of all inputs
    steps: NDArray[np.int16]  # what is to be noted of each input, filled up with zeros
    words: NDArray[np.int64]  # the same, four at a time


def make_entry_scratch(device: LearnerDevice, rows: int, inputs: int) -> EntryScratch:
    """For so many rows."""
    rows = device.scratch_rows(rows)
    steps = np.zeros((rows, 4 * -(-inputs // 4)), np.int16)
    return EntryScratch(np.zeros((rows, 1 + inputs), np.int16), steps, steps.view(np.int64))


class EntryRows(NamedTuple):
    """Rows one after another."""

    quantities: NDArray[Any]  # (n, size)
    secrets: NDArray[Any]  # (n, secrets)
    chosen: NDArray[np.int64]  # (rows,), which of these they are
    anew: NDArray[np.bool_]  # (rows,)
    nothing: NDArray[Any]  # (size + secrets,) zeros
    alike: NDArray[np.int16]  # (size + secrets,), -1 where an input is alike, else 0
    scratch: EntryScratch


class EntryCounts(NamedTuple):
    """Rows of which is counted what is to be noted."""

    rows: EntryRows
    numbers: NDArray[np.int64]  # (rows,) written


class EntryFindings(NamedTuple):
    """Rows whose changes are noted."""

    rows: EntryRows
    factors: NDArray[np.float32]  # (size + secrets,), turn quantities into inputs
    entries: Entries  # of which columns and changes are written


def count_entries(batch: EntryCounts, i: int, thread: int) -> None:
    """How much is to be noted of row `i`."""
    mine, scratch, number = own(thread), batch.rows.scratch, 0
    _compare(batch.rows, i, mine)
    words, steps = scratch.words[mine], scratch.steps[mine]
    for j in range(words.size):
        if words[j] != 0:
            for k in range(4 * j, 4 * j + 4):
                number += steps[k] != 0
    batch.numbers[i] = number


def find_entries(batch: EntryFindings, i: int, thread: int) -> None:
    """Note that of row `i`."""
    mine, entries = own(thread), batch.entries
    _compare(batch.rows, i, mine)
    start = entries.starts[i]
    columns, changes = entries.columns[start:], entries.changes[start:]
    note(batch.rows.scratch, mine, batch.factors, columns, changes)


@inlined
def _compare(rows: EntryRows, i: int, mine: int) -> None:
    """Work out what is to be noted of row `i`."""
    row, size = rows.chosen[i], rows.quantities.shape[1]
    seen, secrets = rows.quantities[row], rows.secrets[row]
    if rows.anew[i]:
        compare(seen, secrets, rows.nothing, rows.nothing[size:], rows.alike, rows.scratch, mine)
    else:
        before = rows.chosen[i - 1]
        seen_before, secrets_before = rows.quantities[before], rows.secrets[before]
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
    """Work out what is to be noted of changes, in row `mine` of the scratch."""
    changes, steps, size = scratch.changes[mine], scratch.steps[mine], seen.size
    for k in range(size):
        changes[1 + k] = np.int16(seen[k]) - np.int16(seen_before[k])
    for k in range(secrets.size):
        changes[1 + size + k] = np.int16(secrets[k]) - np.int16(secrets_before[k])
    for k in range(alike.size):
        steps[k] = changes[1 + k] - (changes[k] & alike[k])


@inlined
def note(scratch: EntryScratch, mine: int, factors: Any, columns: Any, changes: Any) -> Any:
    """Write what has been worked out and is not zero, as inputs; returns how much that is."""
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
    quantities: Array,
    secrets: Array,
    factors: NDArray[np.float32],
    alike: NDArray[np.int16],
    chosen: NDArray[np.int64],
    anew: NDArray[np.bool_],
) -> Entries:
    """What changes from one row to the next, of those that are chosen.

    Args:
        quantities: (n, size).
        secrets: (n, secrets), beside them.
        factors: (size + secrets,), turn quantities into inputs, see `Reading`.
        alike: (size + secrets,), see `alike_inputs`.
        chosen: (rows,), rows of these.
        anew: (rows,), where all that is not zero counts as a change; so it does in the first.
    """
    number, size = chosen.size, quantities.shape[1] + secrets.shape[1]
    starts, nothing = np.zeros(number + 1, np.int64), np.zeros(size, quantities.dtype)
    scratch = make_entry_scratch(device, number, size)
    rows = EntryRows(
        quantities=np.ascontiguousarray(quantities),
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
    entries = Entries(starts, columns, changes, anew)
    device.run(find_entries, number, EntryFindings(rows, factors, entries))
    return entries


class Shares(NamedTuple):
    """How much of a game's observations is to be noted, by some games of random play.

    Attributes:
        anew: of the entries, if they were zero before.
        after: of the entries, after the seat's last decision.
        legal: of the actions, what is legal.
        alike: bool (size,), the inputs that mostly change as those before them in their block.
    """

    anew: float
    after: float
    legal: float
    alike: NDArray[np.bool_]


@cache
def shares_of(game: Game) -> Shares:
    """How much there is to pass over in a game."""
    kept = Quantities(game)
    first, changes, legal = _observed(kept)
    alike = np.zeros(game.observation.size, np.bool_)
    # By how much changes of more than a byte differ may not fit `Entries`.
    for block in game.observation.blocks if kept.dtype == np.uint8 else ():
        place = game.observation.slices[block.name]
        steps = np.diff(changes[:, place], axis=1)
        if np.count_nonzero(steps) < np.count_nonzero(changes[:, place][:, 1:]):
            alike[place][1:] = kept.scales[place][1:] == kept.scales[place][:-1]

    def noted(rows: NDArray[Any]) -> float:
        before = np.where(alike, np.roll(rows, 1, axis=1), 0)
        return float(np.mean(rows != before)) if rows.size else 1.0

    return Shares(noted(first), noted(changes), legal, alike)


def _observed(kept: Quantities) -> tuple[NDArray[Any], NDArray[Any], float]:
    """Observations as quantities, their changes, and the share of actions that is legal."""
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
        quantities = np.zeros(observations.shape, kept.dtype)
        kept.keep(observations, quantities)
        players = zip(games.tolist(), seats.tolist(), strict=True)
        for who, row in zip(players, quantities.astype(int), strict=True):
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
    """Of the inputs of a critic, those that mostly change as the one before: -1, and else 0."""
    alike, private = shares_of(game).alike, Quantities(game).private
    beside = np.diff(private, prepend=-1) == 1
    secrets = np.tile(alike[private] & beside, game.players - 1)
    return -np.concatenate([alike, secrets]).astype(np.int16)
