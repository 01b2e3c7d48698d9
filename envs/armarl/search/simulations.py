"""Information-set Monte Carlo tree search for every game.

The search uses only the compiled functions that every game has (`armarl.core.verbs`). Each
simulation redeals the information that is hidden from the searching seat (it *determinises* the
state). The simulation descends the tree of tried actions. When it leaves the tree, random play or
the game's scripted player continues until the game ends, or until a maximum number of actions. In
the second case the game's evaluation of the position replaces the outcome. The outcome is then
added to the edges of the path. The nodes of the tree are information sets: a node depends only on
the actions before it, and all deals share it. Therefore an action may be legal in only some of the
simulations that reach a node. The action's upper confidence bound uses the number of simulations in
which the action was legal.

With one observer, the tree distinguishes all actions. With several observers, each seat has its own
tree, by which it chooses its actions. In a seat's tree, actions of other seats that look alike to
this seat are one action.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import pick, uniform
from armarl.compiler.types import Int
from armarl.core.batch_loops import own
from armarl.core.verbs import PLAYING, Fixed, verbs
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

AT, REFERENCE = range(2)  # indices into `places`: the node's row, and the RAVE table in use
OUTCOME, MARGIN, ESTIMATE = range(3)  # indices into `returns`


class Workspace(NamedTuple):
    """Working memory of the threads. `batch_loops.own` gives a thread's index on the first axis."""

    states: NDArray[np.void]  # (rows,), the simulation's state
    masks: Mask  # (rows, actions)
    spare: NDArray[np.void]  # (rows, 1), for the scripted player
    lists: Actions  # (rows, 2, actions), LEGAL and UNTRIED actions, see `tree.select`
    scores: Numbers  # (rows, actions), scores of the listed actions
    places: Integers  # (rows, 2, players), AT and REFERENCE in each observer's tree
    path: Integers  # (rows, LONGEST_PATH, 4), ROW, EDGE, MOVER and STEP of each path entry
    trace: Integers  # (rows, 2, steps), CODE and PLAYER of each action
    last: Integers  # (rows, players * actions), last step of each code in the trace
    returns: NDArray[np.float64]  # (rows, 3, players), OUTCOME, MARGIN and ESTIMATE


class SearchBatch(NamedTuple):
    """Searches for many decisions, with one tree per decision, or one per decision and observer."""

    states: NDArray[np.void]  # (decisions,) concealed states
    seats: NDArray[np.int64]  # (decisions,) the searching seats
    chance: Chance  # (decisions,) one random stream per search
    trees: Trees
    work: Workspace
    rules: Rules
    public: Integers  # (actions,), for each action: the first that looks the same to other seats
    resorts: Mask  # (actions,), 1 for last resorts (`LAST_RESORTS`); all 0 if not `patient`
    logarithms: Numbers  # natural logarithm of each index, but 0 for index 0
    begin: int  # 1: create the trees first
    simulations: int  # number of simulations in this call


def search_game(batch: SearchBatch, i: int, thread: int, fixed: Fixed) -> None:
    """Run simulations in the tree of decision `i`."""
    trees, work, rules, mine = batch.trees, batch.work, batch.rules, own(thread)
    s, returns, trace = work.states[mine], work.returns[mine], work.trace[mine]
    edges, rows, rapid = trees.edges[i], trees.rows[i], trees.rapid[i]
    if batch.begin:
        plant(trees, i, rules)
    for _ in range(batch.simulations):
        work.states[mine] = batch.states[i]
        number: Int = np.int64(uniform(batch.chance, i) * SEEDS)
        verbs.determinise(s, batch.seats[i], number)
        entries, steps = descend(batch, i, mine, fixed)
        share = 0.0
        if rules.evaluated > 0.0 and verbs.status(s) == PLAYING:
            verbs.evaluate(s, returns[ESTIMATE], *fixed)
            share = rules.evaluated
        steps = play_on(batch, i, mine, steps, fixed)
        value(s, rules, returns, fixed)
        if share > 0.0:
            mix(returns, ESTIMATE, share)
        back_up(edges, rows, rapid, work.path[mine], entries, trace, steps, returns[OUTCOME])


def descend(batch: SearchBatch, i: Int, mine: Int, fixed: Fixed) -> tuple[Int, Int]:
    """Descend the trees until the seat to move has left its tree, or the game is over.

    Return the number of path entries and the number of trace steps.
    """
    trees, work, rules, chance = batch.trees, batch.work, batch.rules, batch.chance
    edges, following, rows = trees.edges[i], trees.next[i], trees.rows[i]
    rapid, used, path = trees.rapid[i], trees.used[i], work.path[mine]
    s, mask, spare = work.states[mine], work.masks[mine], work.spare[mine]
    lists, scores = work.lists[mine], work.scores[mine]
    places, trace, last = work.places[mine], work.trace[mine], work.last[mine]
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
        verbs.legal(s, mask, *fixed)
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
            action = verbs.greedy(s, uniform(chance, i), mask, spare, *fixed)
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
        verbs.apply(s, action, *fixed)
    return entries, steps


def play_on(batch: SearchBatch, i: Int, mine: Int, steps: Int, fixed: Fixed) -> Int:
    """Play a playout, to the end of the game or for `depth` actions.

    Return the number of steps in the trace.
    """
    work, rules, chance, resorts = batch.work, batch.rules, batch.chance, batch.resorts
    s, mask, spare, left = work.states[mine], work.masks[mine], work.spare[mine], rules.depth
    trace, last = work.trace[mine], work.last[mine]
    while left != 0 and verbs.status(s) == PLAYING:
        left -= 1
        if rules.scripted > 0.0 and uniform(chance, i) < rules.scripted:
            action = verbs.greedy(s, uniform(chance, i), mask, spare, *fixed)
        else:
            verbs.legal(s, mask, *fixed)
            action = pick(mask, uniform(chance, i))
            if rules.patient and resorts[action]:
                action = other_than(mask, resorts, action, uniform(chance, i))
        if rules.rapid:
            seat = verbs.to_move(s)
            code = seat * mask.size + action
            steps = record(trace, last, steps, code, seat)
        verbs.apply(s, action, *fixed)
    return steps


def other_than(mask: Mask, resorts: Mask, action: Int, draw: float) -> Int:
    """Return a random legal action that is not a last resort, or `action` if all legal ones are.

    `resorts` marks the last resorts (`LAST_RESORTS` of the game), which are removed from `mask`.
    `draw` is a random number in [0, 1).
    """
    for other in range(mask.size):
        mask[other] &= 1 - resorts[other]
    instead = pick(mask, draw)
    return instead if mask[instead] else action


def value(s: Any, rules: Rules, returns: NDArray[np.float64], fixed: Fixed) -> None:
    """Write to `returns` every seat's value of the position in which a simulation stopped."""
    if verbs.status(s) == PLAYING:
        verbs.evaluate(s, returns[OUTCOME], *fixed)
    else:
        verbs.returns(s, rules.reward, returns[OUTCOME])
        if rules.margin_share > 0.0:
            verbs.returns(s, rules.margin, returns[MARGIN])
            mix(returns, MARGIN, rules.margin_share)


def mix(returns: NDArray[np.float64], other: Int, share: float) -> None:
    """Replace a share of every seat's outcome by the value in another row of `returns`."""
    for seat in range(returns.shape[1]):
        returns[OUTCOME, seat] += share * (returns[other, seat] - returns[OUTCOME, seat])
