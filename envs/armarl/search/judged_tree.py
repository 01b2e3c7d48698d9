"""A search tree in which a judge evaluates every action before the search tries it.

A judge is a value network of positions. Each simulation redeals the hidden information and descends
the tree. At each node the simulation chooses an action by the judge's values, the results of
earlier simulations and the visit counts (PUCT: Silver et al., 2017). The nodes are information
sets, whose legal actions differ from deal to deal (Cowling, Powley and Whitehouse, 2012). A
simulation ends one action after it reaches a new node. The judge evaluates this last position for
every seat. There are no random playouts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import kernel
from armarl.compiler.randomness import uniform
from armarl.compiler.types import Int, Real
from armarl.core.batch_loops import own
from armarl.core.verbs import PLAYING, Fixed, verbs
from armarl.networks.judge import MARGIN
from armarl.networks.judge_kernels import Scratch, Weights, worth
from armarl.search.tree import (
    EDGE,
    LONGEST_PATH,
    MOVER,
    NO_ROW,
    ROW,
    SEEDS,
    Chance,
    Integers,
    Mask,
    Numbers,
)

# Fields of an edge: the judge's value, visits, sum of values. (In `tree`, edges have other fields.)
WORTH, JUDGED_VISITS, JUDGED_TOTALS = range(3)
UNJUDGED = -2.0  # marks an edge without a judge's value; a judge's values are in [-1, 1]
SIMULATED, TRIED = range(2)  # indices into `states`
VALUE, SECOND = range(2)  # indices into `returns`; SECOND: the margin of a finished game


class JudgedWork(NamedTuple):
    """Working memory of the threads. `batch_loops.own` gives a thread's index on the first axis."""

    states: NDArray[np.void]  # (rows, 2), the simulation's state, and a copy to try an action
    masks: Mask  # (rows, actions)
    path: Integers  # (rows, LONGEST_PATH, 3), ROW, EDGE and MOVER
    returns: NDArray[np.float64]  # (rows, 2, players), VALUE and SECOND
    scratch: Scratch  # (rows, ...), for the judge


class JudgedSearch(NamedTuple):
    """Searches for many decisions, with one tree per decision. The first axis is the decision."""

    states: NDArray[np.void]  # (decisions,) concealed states
    seats: NDArray[np.int64]  # (decisions,) the searching seats
    chance: Chance  # (decisions,) one random stream per search
    edges: Numbers  # (decisions, rows, 3, actions), WORTH, JUDGED_VISITS and JUDGED_TOTALS
    next: Integers  # (decisions, rows, actions), the row of the node after each action, or NO_ROW
    used: Integers  # (decisions,), number of rows in use, one per node
    net: Weights  # weights of the judge
    work: JudgedWork
    exploration: float  # constant of PUCT
    sharpness: float  # an action whose worth is 1 / sharpness higher has e times the prior
    reward: int  # index of the game's reward, see `verbs.returns`
    margin: int  # index of the second reward, which is mixed with the first with weight MARGIN
    begin: int  # 1: create the trees first
    simulations: int  # number of simulations in this call


def search_judged(batch: JudgedSearch, i: int, thread: int, fixed: Fixed) -> None:
    """Run simulations in the tree of decision `i`."""
    work, mine, chance = batch.work, own(thread), batch.chance
    edges, following, path = batch.edges[i], batch.next[i], work.path[mine]
    states, returns = work.states[mine], work.returns[mine]
    if batch.begin:
        batch.used[i] = 1
        clear(edges[0], following[0])
    for _ in range(batch.simulations):
        states[SIMULATED] = batch.states[i]
        number: Int = np.int64(uniform(chance, i) * SEEDS)
        verbs.determinise(states[SIMULATED], batch.seats[i], number)
        entries = descend(batch, i, mine, fixed)
        look_ahead(batch, mine, fixed)
        for k in range(entries):
            row, edge = path[k, ROW], path[k, EDGE]
            edges[row, JUDGED_VISITS, edge] += 1
            edges[row, JUDGED_TOTALS, edge] += returns[VALUE, path[k, MOVER]]


def descend(batch: JudgedSearch, i: Int, mine: Int, fixed: Fixed) -> Int:
    """Descend the tree, one action beyond a new node. Return the number of path entries."""
    work, edges, following = batch.work, batch.edges[i], batch.next[i]
    s, mask, path = work.states[mine][SIMULATED], work.masks[mine], work.path[mine]
    row, entries, known = 0, 0, True
    while known and entries < LONGEST_PATH and verbs.status(s) == PLAYING:
        seat = verbs.to_move(s)
        verbs.legal(s, mask, *fixed)
        known = judge_untried(batch, i, mine, row, seat, fixed)
        edge = choose(edges[row], mask, batch.exploration, batch.sharpness)
        path[entries, ROW], path[entries, EDGE], path[entries, MOVER] = row, edge, seat
        entries += 1
        verbs.apply(s, edge, *fixed)
        reached: Int = np.int64(following[row, edge])
        if known and reached == NO_ROW:
            reached = np.int64(batch.used[i])
            if reached == edges.shape[0]:
                return entries
            batch.used[i] += 1
            clear(edges[reached], following[reached])
            following[row, edge] = reached
        row = reached
    return entries


@kernel
def clear(edges: Numbers, following: Integers) -> None:
    """Reset a node: no worths, no visits, no next nodes."""
    edges[WORTH, :] = UNJUDGED
    edges[JUDGED_VISITS:, :] = 0
    following[:] = NO_ROW


def judge_untried(
    batch: JudgedSearch, i: Int, mine: Int, row: Int, seat: Int, fixed: Fixed
) -> bool:
    """Write the worth of each legal action that has no worth yet at the node in `row`.

    The judge computes the worth. Return whether any legal action already had one. If none had, the
    node is new.
    """
    work, edges, known = batch.work, batch.edges[i, row], False
    states, mask = work.states[mine], work.masks[mine]
    for action in range(mask.size):
        if mask[action]:
            if edges[WORTH, action] != UNJUDGED:
                known = True
            else:
                states[TRIED] = states[SIMULATED]
                verbs.apply(states[TRIED], action, *fixed)
                edges[WORTH, action] = judged(batch, states[TRIED], seat, mine, fixed)
    return known


def judged(batch: JudgedSearch, s: NDArray[np.void], seat: Int, mine: Int, fixed: Fixed) -> Real:
    """Return the worth of a position for a seat, by the judge."""
    work = batch.work.scratch
    verbs.survey(s, seat, work.survey[mine], *fixed)
    return worth(batch.net, work, mine)


def look_ahead(batch: JudgedSearch, mine: Int, fixed: Fixed) -> None:
    """Write to `returns` every seat's value of the position in which a simulation stopped.

    The judge estimates the value. If the game is over, the value is the seat's return, mixed with
    the second reward.
    """
    s, returns = batch.work.states[mine][SIMULATED], batch.work.returns[mine]
    if verbs.status(s) == PLAYING:
        for seat in range(returns.shape[1]):
            returns[VALUE, seat] = judged(batch, s, seat, mine, fixed)
        return
    verbs.returns(s, batch.reward, returns[VALUE])
    verbs.returns(s, batch.margin, returns[SECOND])
    for seat in range(returns.shape[1]):
        returns[VALUE, seat] += MARGIN * (returns[SECOND, seat] - returns[VALUE, seat])


@kernel
def choose(edges: Numbers, mask: Mask, exploration: float, sharpness: float) -> Int:
    """Return the legal action with the highest bound. The judge's value counts as one visit."""
    best, visits = UNJUDGED, np.float32(0)
    for action in range(mask.size):
        if mask[action]:
            best = max(best, edges[WORTH, action])
            visits += edges[JUDGED_VISITS, action]
    total = 0.0
    for action in range(mask.size):
        if mask[action]:
            total += math.exp(sharpness * (edges[WORTH, action] - best))
    scale = exploration * math.sqrt(visits) / total
    highest, chosen = -np.inf, 0
    for action in range(mask.size):
        if mask[action]:
            n = 1 + edges[JUDGED_VISITS, action]
            likely = math.exp(sharpness * (edges[WORTH, action] - best))
            bound = (edges[WORTH, action] + edges[JUDGED_TOTALS, action] + scale * likely) / n
            if bound > highest:
                highest, chosen = bound, action
    return np.int64(chosen)
