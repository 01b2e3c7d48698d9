"""Information-set Monte Carlo tree search for every game, by its verbs alone.

A simulation deals anew all that the searching seat is not shown (*determinises*), goes down the
tree of what has been tried, plays on from there by chance or by the game's scripted player, to the
end or to a depth at which the game's evaluation is asked, and counts the outcome along its path.
The tree is one of information sets: what the seats do leads from row to row, and deals share rows,
so an action is legal in some simulations only and is compared by how often it was on offer.

With one observer the tree tells apart all actions. With several each seat has its own, in which
actions of others that look alike are one, and chooses by it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import pick, uniform
from armarl.compiler.types import Int
from armarl.core.batch_loops import own
from armarl.core.verbs import PLAYING, verbs
from armarl.search.tree import (
    EDGE,
    LONGEST_PATH,
    MOVER,
    NO_TABLE,
    OUTSIDE,
    PASSED,
    ROW,
    SEEDS,
    STEP,
    SUMS,
    TABLE,
    VISITS,
    Actions,
    Chance,
    Integers,
    Mask,
    Numbers,
    Rules,
    Trees,
    back_up,
    follow,
    plant,
    record,
    select,
    select_rapid,
    take_table,
)

AT, REFERENCE = range(2)  # of `places`: a row, and the table whose rapid values count there
SIMULATED, SPARE = range(2)  # of `states`
OUTCOME, MARGIN, ESTIMATE = range(3)  # of `returns`


class Workspace(NamedTuple):
    """What a thread works on; the first axis is for threads (see `loops.own`)."""

    states: NDArray[np.void]  # (rows, 2), that of the simulation, and the scripted player's
    masks: Mask  # (rows, actions)
    lists: Actions  # (rows, 2, actions), of actions, see `tree.select`
    scores: Numbers  # (rows, actions), of those listed
    places: Integers  # (rows, 2, players), where the path stands in each observer's tree
    path: Integers  # (rows, LONGEST_PATH, 4)
    trace: Integers  # (rows, 2, steps)
    last: Integers  # (rows, players * actions), where each code was last put into the trace
    returns: NDArray[np.float64]  # (rows, 3, players)


class SearchBatch(NamedTuple):
    """Searches for many decisions at once, one tree (or one for each observer) for each."""

    states: NDArray[np.void]  # (games,) as the searching seats know them
    seats: NDArray[np.int64]  # (games,) who searches
    chance: Chance  # (games,) one stream for each search
    trees: Trees
    work: Workspace
    rules: Rules
    public: Integers  # (actions,), an action that looks the same to those who do not play it
    resorts: Mask  # (actions,), 1: it gives something up
    logarithms: Numbers  # of 1 (at 0 too), 2, 3, ...
    begin: int  # 1: plant the trees first
    simulations: int  # to run in this call


def search_game(batch: SearchBatch, i: int, thread: int) -> None:
    """Run simulations in the tree of decision `i`."""
    trees, work, rules, mine = batch.trees, batch.work, batch.rules, own(thread)
    states, returns, trace = work.states[mine], work.returns[mine], work.trace[mine]
    edges, rows, rapid = trees.edges[i], trees.rows[i], trees.rapid[i]
    if batch.begin:
        plant(trees, i, rules)
    for _ in range(batch.simulations):
        states[SIMULATED] = batch.states[i]
        s = states[SIMULATED]
        number: Int = np.int64(uniform(batch.chance, i) * SEEDS)
        verbs.determinise(s, batch.seats[i], number)
        entries, steps = descend(batch, i, mine)
        share = 0.0
        if rules.evaluated > 0.0 and verbs.status(s) == PLAYING:
            verbs.evaluate(s, returns[ESTIMATE])
            share = rules.evaluated
        steps = play_on(batch, i, mine, steps)
        value(s, rules, returns)
        if share > 0.0:
            mix(returns, ESTIMATE, share)
        back_up(edges, rows, rapid, work.path[mine], entries, trace, steps, returns[OUTCOME])


def descend(batch: SearchBatch, i: Int, mine: Int) -> tuple[Int, Int]:
    """Play on until the seat to move stands outside its tree; entries of the path, and steps."""
    trees, work, rules, chance = batch.trees, batch.work, batch.rules, batch.chance
    edges, following, rows = trees.edges[i], trees.next[i], trees.rows[i]
    rapid, used, path = trees.rapid[i], trees.used[i], work.path[mine]
    states, mask = work.states[mine], work.masks[mine]
    lists, scores = work.lists[mine], work.scores[mine]
    places, trace, last = work.places[mine], work.trace[mine], work.last[mine]
    s = states[SIMULATED]
    for observer in range(rules.observers):
        places[AT, observer] = places[REFERENCE, observer] = observer
    entries = steps = 0
    while verbs.status(s) == PLAYING and entries + rules.observers <= LONGEST_PATH:
        seat = verbs.to_move(s)
        tree = seat if rules.observers > 1 else 0
        row: Int = np.int64(places[AT, tree])
        if row == OUTSIDE:
            break
        first = seat * mask.size
        verbs.legal(s, mask)
        if rules.rapid:
            if rows[row, TABLE] != NO_TABLE and rows[row, PASSED] >= 2 * rules.reference:
                places[REFERENCE, tree] = rows[row, TABLE]
            table = places[REFERENCE, tree]
            action = select_rapid(
                edges[row],
                rapid[table, VISITS, first : first + mask.size],
                rapid[table, SUMS, first : first + mask.size],
                mask,
                lists,
                scores,
                batch.logarithms,
                rules.exploration,
                rules.bias,
                rules.urgency,
                chance,
                i,
            )
        else:
            action = select(
                edges[row],
                mask,
                lists,
                scores,
                batch.logarithms,
                rules.exploration,
                rules.urgency,
                chance,
                i,
            )
        if rules.led and rows[row, PASSED] == 0:
            action = verbs.greedy(s, uniform(chance, i), mask, states[SPARE:])
        for observer in range(rules.observers):
            row = np.int64(places[AT, observer])
            if row != OUTSIDE:
                told = rules.observers == 1 or observer == seat
                edge: Int = action if told else np.int64(batch.public[action])
                path[entries, ROW] = row
                path[entries, EDGE] = edge
                path[entries, MOVER] = seat
                path[entries, STEP] = steps
                entries += 1
                if rules.rapid:
                    take_table(rows, rapid, used, row, rules.reference)
                places[AT, observer] = follow(edges, following, rows, used, row, edge)
        if rules.rapid:
            steps = record(trace, last, steps, first + action, seat)
        verbs.apply(s, action)
    return entries, steps


def play_on(batch: SearchBatch, i: Int, mine: Int, steps: Int) -> Int:
    """A playout, to the end of the game or to the depth; returns the steps of the trace."""
    work, rules, chance, resorts = batch.work, batch.rules, batch.chance, batch.resorts
    states, mask, left = work.states[mine], work.masks[mine], rules.depth
    s, trace, last = states[SIMULATED], work.trace[mine], work.last[mine]
    while left != 0 and verbs.status(s) == PLAYING:
        left -= 1
        if rules.scripted > 0.0 and uniform(chance, i) < rules.scripted:
            action = verbs.greedy(s, uniform(chance, i), mask, states[SPARE:])
        else:
            verbs.legal(s, mask)
            action = pick(mask, uniform(chance, i))
            if rules.patient and resorts[action]:
                action = other_than(mask, resorts, action, uniform(chance, i))
        if rules.rapid:
            seat = verbs.to_move(s)
            code = seat * mask.size + action
            steps = record(trace, last, steps, code, seat)
        verbs.apply(s, action)
    return steps


def other_than(mask: Mask, resorts: Mask, action: Int, draw: float) -> Int:
    """A legal action at `draw` that gives nothing up; `action` where there is none."""
    for other in range(mask.size):
        mask[other] &= 1 - resorts[other]
    instead = pick(mask, draw)
    return instead if mask[instead] else action


def value(s: Any, rules: Rules, returns: NDArray[np.float64]) -> None:
    """What every seat gets where a simulation stopped."""
    if verbs.status(s) == PLAYING:
        verbs.evaluate(s, returns[OUTCOME])
    else:
        verbs.returns(s, rules.reward, returns[OUTCOME])
        if rules.margin_share > 0.0:
            verbs.returns(s, rules.margin, returns[MARGIN])
            mix(returns, MARGIN, rules.margin_share)


def mix(returns: NDArray[np.float64], other: Int, share: float) -> None:
    """Mix a share of another row into the outcome."""
    for seat in range(returns.shape[1]):
        returns[OUTCOME, seat] += share * (returns[other, seat] - returns[OUTCOME, seat])
