"""Search trees in arrays of fixed size, and the rules that choose a path through a tree.

A node of a tree is a decision that simulations have reached more than once. Each node is stored in
a *row* of the arrays. It has an *edge* for each action, which counts the results of the action. A
decision that was reached only once has no node, so there are far fewer nodes than simulations. The
caller allocates the arrays for all nodes of a tree. When the arrays are full, no new nodes are
created, and simulations leave the tree earlier.

The *path* of a simulation is the list of its edges in the tree. Its *trace* is the list of all its
actions, including those after the path. Rapid action values (RAVE) are means over traces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.randomness import list_legal, uniform
from armarl.compiler.types import Int

Integers = NDArray[np.int32]
Numbers = NDArray[np.float32]
Actions = NDArray[np.uint32]  # unsigned, so no check for negative indices is needed
Mask = NDArray[np.int8]
Chance = NDArray[np.uint64]

# Fields of an edge: visits, number of times that the action was legal, sum of returns.
VISITS, OFFERS, TOTALS = range(3)
# A rapid action value (RAVE) has two fields: VISITS and SUMS, the sum of the action's returns.
SUMS = 1
PASSED, TABLE = range(2)  # fields of a node: number of simulations through it, its RAVE table
ROWS, TABLES = range(2)  # indices into `used`
LEGAL, UNTRIED = range(2)  # indices into `lists`
NO_ROW = 0  # marks an edge without a next node; row 0 is a root, so no edge leads to row 0
NO_TABLE = -1  # marks a node without a RAVE table
OUTSIDE = -1  # replaces the row after the path has left the tree

SEEDS = 2.0**53  # number of different values that `uniform` can return
ROW, EDGE, MOVER, STEP = range(4)  # fields of a path entry
LONGEST_PATH = 256  # maximum number of path entries
CODE, PLAYER = range(2)  # fields of a trace step; a code is player * actions + action
REPEATED = -1  # replaces a code if the same code follows later, so that each code counts once


class Rules(NamedTuple):
    """The settings by which a search chooses its path and evaluates the end of the path."""

    observers: int  # number of trees: 1, or one per seat
    exploration: float  # factor of UCB1's sqrt(ln(OFFERS) / VISITS)
    rapid: int  # 1: use rapid action values
    bias: float  # bias of the rapid values: the smaller it is, the longer they matter
    reference: int  # number of simulations that a table of rapid values needs before it is used
    urgency: float  # score of untried actions minus the mean of the tried; inf: they come first
    led: int  # 1: the first action tried at a node is the scripted player's choice
    depth: int  # number of actions from the path's end to the evaluation; below 0: no limit
    scripted: float  # share of the actions after the path that the scripted player chooses
    patient: int  # 1: random play avoids last resorts, such as passing, if others are legal
    reward: int  # index of the game's reward, see `verbs.returns`
    margin: int  # index of a second reward, which is mixed with the first
    margin_share: float  # weight of the second reward
    evaluated: float  # weight of the evaluation where the path leaves the tree


class Trees(NamedTuple):
    """The trees of a batch: one per decision, or one per decision and observer.

    The first axis is the decision. All trees of a decision take their nodes from the same rows.
    """

    edges: Numbers  # (decisions, rows, 3, actions), VISITS, OFFERS and TOTALS
    next: Integers  # (decisions, rows, actions), the row of the node after each action, or NO_ROW
    rows: Integers  # (decisions, rows, 2), PASSED and TABLE
    rapid: Numbers  # (decisions, tables, 2, players * actions), VISITS and SUMS
    used: Integers  # (decisions, 2), numbers of ROWS and TABLES in use


@kernel
def clear_row(edges: Numbers, following: Integers, row: Integers) -> None:
    """Reset a node: no visits, no next nodes, no RAVE table."""
    edges[:, :] = 0
    following[:] = NO_ROW
    row[PASSED] = 0
    row[TABLE] = NO_TABLE


@kernel
def take_table(rows: Integers, rapid: Numbers, used: Integers, row: Int, passed: Int) -> None:
    """Give a node an empty table of rapid values if `passed` simulations have gone through it.

    Nothing happens if the node already has a table, or if no table is free.
    """
    table = used[TABLES]
    if rows[row, PASSED] == passed and rows[row, TABLE] == NO_TABLE and table < rapid.shape[0]:
        used[TABLES] += 1
        rapid[table, :, :] = 0
        rows[row, TABLE] = table


@kernel
def plant(trees: Trees, game: Int, rules: Rules) -> None:
    """Reset the trees of a decision to their roots. Row `k` is the root of observer `k`."""
    used, rows = trees.used[game], trees.rows[game]
    used[ROWS] = rules.observers
    used[TABLES] = 0
    for row in range(rules.observers):
        clear_row(trees.edges[game, row], trees.next[game, row], rows[row])
        if rules.rapid:
            take_table(rows, trees.rapid[game], used, row, 0)


@kernel
def follow(
    edges: Numbers, following: Integers, rows: Integers, used: Integers, row: Int, edge: Int
) -> Int:
    """Return the row of the node after an edge, or OUTSIDE.

    If the edge has no next node, a new node is created, provided that the edge was visited before
    and the arrays have room. Otherwise the result is OUTSIDE.
    """
    found = np.int64(following[row, edge])
    if found != NO_ROW:
        return found
    new = np.int64(used[ROWS])
    if edges[row, VISITS, edge] == 0 or new == edges.shape[0]:
        return np.int64(OUTSIDE)
    used[ROWS] += 1
    clear_row(edges[new], following[new], rows[new])
    following[row, edge] = new
    return new


# --- choosing an action --------------------------------------------------------------------------
# Usually only a few dozen of a thousand actions are legal. Therefore the legal actions are listed
# once, and the loops visit only the listed actions.


@inlined
def count_offers(edges: Numbers, legal: Actions, offered: Int, untried: Actions) -> Int:
    """Add 1 to the OFFERS of each legal action, and write the untried ones to `untried`.

    Return the number of untried actions.
    """
    visits, offers = edges[VISITS], edges[OFFERS]
    n: Int = 0
    for k in range(offered):
        action = legal[k]
        offers[action] += np.float32(1)
        untried[n] = action
        n += np.int64(visits[action] == 0)
    return n


@inlined
def keep_unknown(untried: Actions, n: Int, counts: Numbers) -> Int:
    """Remove actions with a rapid value from the untried actions. Return the number left."""
    unknown: Int = 0
    for k in range(n):
        action = untried[k]
        untried[unknown] = action
        unknown += np.int64(counts[action] == 0)
    return unknown


@inlined
def one_of(actions: Actions, n: Int, draw: float) -> Int:
    """Return a random one of the first `n` actions. `draw` is a random number in [0, 1)."""
    return np.int64(actions[np.int64(draw * n)])


@inlined
def best_of(offered: Int, scores: Numbers) -> Int:
    """Return the index of the highest score. If several are equal, return the first index."""
    best = 0
    for k in range(1, offered):
        if scores[k] > scores[best]:
            best = k
    return best


@kernel
def best_or_new(
    edges: Numbers, legal: Actions, offered: Int, scores: Numbers, urgency: float, new: Int
) -> Int:
    """Return the tried action with the highest score, or the untried `new` if its score is higher.

    The score of an untried action is the mean return of the tried ones plus `urgency`. This is
    first-play urgency (Gelly and Wang, *Modifications of UCT and sequence-like simulations for
    Monte-Carlo Go*, 2007).
    """
    visits, totals, n, total = edges[VISITS], edges[TOTALS], np.float32(0), np.float32(0)
    for k in range(offered):
        action = legal[k]
        n += visits[action]
        total += totals[action]
    best = best_of(offered, scores)
    if scores[best] < total / max(n, np.float32(1)) + urgency:
        return new
    return np.int64(legal[best])


@inlined
def keep_known(visits: Numbers, legal: Actions, offered: Int, counts: Numbers) -> Int:
    """Keep in `legal` only actions that were tried or have a rapid value. Return their number."""
    n: Int = 0
    for k in range(offered):
        action = legal[k]
        legal[n] = action
        n += np.int64(visits[action] + counts[action] != 0)
    return n


@inlined
def upper_bounds(
    edges: Numbers,
    legal: Actions,
    offered: Int,
    logarithms: Numbers,
    exploration: float,
    scores: Numbers,
) -> None:
    """Write the UCB1 bounds of the listed actions to `scores`.

    Instead of the node's visits, an action's bound uses the number of times that the action was
    legal (Cowling, Powley and Whitehouse 2012). All listed actions must have been tried before.
    """
    c, most = np.float32(exploration), logarithms.size - 1
    visits, offers, totals = edges[VISITS], edges[OFFERS], edges[TOTALS]
    for k in range(offered):
        action = legal[k]
        n = visits[action]
        times: Int = min(np.int64(offers[action]), most)
        log = logarithms[times]
        scores[k] = totals[action] / n + c * np.sqrt(log / n)


@inlined
def rapid_bounds(
    edges: Numbers,
    legal: Actions,
    offered: Int,
    counts: Numbers,
    sums: Numbers,
    logarithms: Numbers,
    exploration: float,
    bias: float,
    scores: Numbers,
) -> None:
    """Write the bounds of the listed actions to `scores`, as in `upper_bounds`.

    Instead of the mean return, a bound uses a mixture of the mean return and the rapid action value
    (GRAVE: Cazenave 2015).
    """
    c, b, one = np.float32(exploration), np.float32(bias), np.float32(1)
    least, most = np.float32(1e-6), logarithms.size - 1
    visits, offers, totals = edges[VISITS], edges[OFFERS], edges[TOTALS]
    for k in range(offered):
        action = legal[k]
        n, m = visits[action], counts[action]
        beta = m / (m + n + b * m * n + least)
        mean = totals[action] / max(n, one)
        rapid = sums[action] / max(m, one)
        times: Int = min(np.int64(offers[action]), most)
        log = logarithms[times]
        scores[k] = mean + beta * (rapid - mean) + c * np.sqrt(log / (n + one))


@kernel
def select(
    edges: Numbers,
    mask: Mask,
    lists: Actions,
    scores: Numbers,
    logarithms: Numbers,
    exploration: float,
    urgency: float,
    chance: Chance,
    game: Int,
) -> Int:
    """Return the action to play at a node: the one with the highest bound, or an untried one."""
    legal, untried = lists[LEGAL], lists[UNTRIED]
    offered = list_legal(mask, legal)
    n = count_offers(edges, legal, offered, untried)
    if n:
        new = one_of(untried, n, uniform(chance, game))
        if urgency == np.inf or n == offered:
            return new
        offered = keep_known(edges[VISITS], legal, offered, edges[VISITS])
        upper_bounds(edges, legal, offered, logarithms, exploration, scores)
        return best_or_new(edges, legal, offered, scores, urgency, new)
    upper_bounds(edges, legal, offered, logarithms, exploration, scores)
    return np.int64(legal[best_of(offered, scores)])


@kernel
def select_rapid(
    edges: Numbers,
    counts: Numbers,
    sums: Numbers,
    mask: Mask,
    lists: Actions,
    scores: Numbers,
    logarithms: Numbers,
    exploration: float,
    bias: float,
    urgency: float,
    chance: Chance,
    game: Int,
) -> Int:
    """Return an action as `select` does, but use rapid action values, even for untried actions."""
    legal, untried = lists[LEGAL], lists[UNTRIED]
    offered = list_legal(mask, legal)
    n = keep_unknown(untried, count_offers(edges, legal, offered, untried), counts)
    if n:
        new = one_of(untried, n, uniform(chance, game))
        if urgency == np.inf or n == offered:
            return new
        offered = keep_known(edges[VISITS], legal, offered, counts)
        rapid_bounds(edges, legal, offered, counts, sums, logarithms, exploration, bias, scores)
        return best_or_new(edges, legal, offered, scores, urgency, new)
    rapid_bounds(edges, legal, offered, counts, sums, logarithms, exploration, bias, scores)
    return np.int64(legal[best_of(offered, scores)])


# --- counting results ----------------------------------------------------------------------------


@inlined
def record(trace: Integers, last: Integers, steps: Int, code: Int, seat: Int) -> Int:
    """Append an action to a trace if there is room. Return the number of steps in the trace."""
    if steps == trace.shape[1]:
        return steps
    before = last[code]
    if before < steps and trace[CODE, before] == code:
        trace[CODE, before] = REPEATED
    last[code] = steps
    trace[CODE, steps] = code
    trace[PLAYER, steps] = seat
    return steps + 1


@kernel
def back_up(
    edges: Numbers,
    rows: Integers,
    rapid: Numbers,
    path: Integers,
    entries: Int,
    trace: Integers,
    steps: Int,
    returns: NDArray[np.float64],
) -> None:
    """Add a simulation's result to the edges of its path and to the rapid values of its nodes."""
    for k in range(entries):
        row, edge = path[k, ROW], path[k, EDGE]
        edges[row, VISITS, edge] += 1
        edges[row, TOTALS, edge] += returns[path[k, MOVER]]
        rows[row, PASSED] += 1
        table = rows[row, TABLE]
        if table != NO_TABLE:
            for step in range(path[k, STEP], steps):
                code = trace[CODE, step]
                if code != REPEATED:
                    rapid[table, VISITS, code] += 1
                    rapid[table, SUMS, code] += returns[trace[PLAYER, step]]
