"""Search trees in fixed arrays: rows of edges, one edge for every action, and how a path is chosen.

A *row* is a decision that simulations have come to more than once; its edges count what became of
each action there. What was tried once is an edge only, so there are far fewer rows than
simulations. All rows of a tree lie in one pool, which the caller makes; where it is used up,
simulations leave the tree earlier, and nothing else changes.
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
Actions = NDArray[np.uint32]  # no index from the end: that need not be asked
Mask = NDArray[np.int8]
Chance = NDArray[np.uint64]

VISITS, OFFERS, TOTALS = range(3)  # of an edge: times played, times legal, sum of what it brought
SUMS = 1  # of a rapid value: the sum of what the action brought, beside VISITS
PASSED, TABLE = range(2)  # of a row: simulations that came through, its table of rapid values
ROWS, TABLES = range(2)  # of `used`
LEGAL, UNTRIED = range(2)  # of `lists` of actions
NO_ROW = 0  # of `next`: no edge leads to row 0, which is a root
NO_TABLE = -1
OUTSIDE = -1  # in place of a row: the path has left the tree

SEEDS = 2.0**53  # how many different numbers `uniform` gives
ROW, EDGE, MOVER, STEP = range(4)  # of an entry of a path
LONGEST_PATH = 256
CODE, PLAYER = range(2)  # of a step of a trace; a code is player * actions + action
REPEATED = -1  # in place of a code that comes again later: each counts once


class Rules(NamedTuple):
    """How a search chooses its path, and how it values where that ends."""

    observers: int  # trees: 1, or one for every seat
    exploration: float  # of UCB1, times sqrt(ln(times offered) / visits)
    rapid: int  # 1: with rapid action values
    bias: float  # of the rapid values: the smaller, the longer they count
    reference: int  # simulations that a row's rapid values need before they count
    urgency: float  # of what was never tried, over the mean of its row; inf: it comes first
    led: int  # 1: what is tried first at a row is what the scripted player would do
    depth: int  # actions after the path before the position is evaluated; below 0: to the end
    scripted: float  # the share of these that the scripted player chooses
    patient: int  # 1: random players give nothing up while they can do anything else
    reward: int  # number of the game's reward, see `verbs.returns`
    margin: int  # number of a second reward, which is mixed in
    margin_share: float  # with this weight
    evaluated: float  # weight of the evaluation where the path leaves the tree


class Trees(NamedTuple):
    """One tree, or one for each observer, for every game of a batch; the first axis is the game."""

    edges: Numbers  # (games, rows, 3, actions), VISITS, OFFERS and TOTALS
    next: Integers  # (games, rows, actions), the row that an edge leads to, or NO_ROW
    rows: Integers  # (games, rows, 2), PASSED and TABLE
    rapid: Numbers  # (games, tables, 2, players * actions), VISITS and SUMS
    used: Integers  # (games, 2), ROWS and TABLES in use


@kernel
def clear_row(edges: Numbers, following: Integers, row: Integers) -> None:
    """An empty row."""
    edges[:, :] = 0
    following[:] = NO_ROW
    row[PASSED] = 0
    row[TABLE] = NO_TABLE


@kernel
def take_table(rows: Integers, rapid: Numbers, used: Integers, row: Int, passed: Int) -> None:
    """An empty table of rapid values for a row that has none and was passed so often."""
    table = used[TABLES]
    if rows[row, PASSED] == passed and rows[row, TABLE] == NO_TABLE and table < rapid.shape[0]:
        used[TABLES] += 1
        rapid[table, :, :] = 0
        rows[row, TABLE] = table


@kernel
def plant(trees: Trees, game: Int, rules: Rules) -> None:
    """Roots and nothing else: row `k` is the root of observer `k`."""
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
    """The row that an edge leads to; a new one where the edge has been visited, if one is left."""
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


# --- which action to try -------------------------------------------------------------------------
# Of a thousand actions a few dozen are legal, so they are listed once and the others left alone.


@inlined
def count_offers(edges: Numbers, legal: Actions, offered: Int, untried: Actions) -> Int:
    """Count what is offered, and list what was never tried; returns how many these are."""
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
    """Of the untried actions, those without a rapid value either; returns how many these are."""
    unknown: Int = 0
    for k in range(n):
        action = untried[k]
        untried[unknown] = action
        unknown += np.int64(counts[action] == 0)
    return unknown


@inlined
def one_of(actions: Actions, n: Int, draw: float) -> Int:
    """The action at `draw`, a number in [0, 1), of the first `n`."""
    return np.int64(actions[np.int64(draw * n)])


@inlined
def best_of(offered: Int, scores: Numbers) -> Int:
    """The place of the highest score; of equal ones the first."""
    best = 0
    for k in range(1, offered):
        if scores[k] > scores[best]:
            best = k
    return best


@kernel
def best_or_new(
    edges: Numbers, legal: Actions, offered: Int, scores: Numbers, urgency: float, new: Int
) -> Int:
    """The action with the highest score, unless what was never tried counts for more: as the mean
    of those that were, and `urgency` more.

    First-play urgency (Gelly and Wang, *Modifications of UCT and sequence-like simulations for
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
    """Of the legal actions, those that were tried or have a rapid value; returns how many."""
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
    """UCB1 with availability counts (Cowling, Powley and Whitehouse 2012); all tried before."""
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
    """The same, the mean being mixed with the rapid action value (GRAVE, Cazenave 2015)."""
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
    """What to play at a row: the action with the highest bound, or what was never tried."""
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
    """The same with rapid action values, which count for what was never tried itself."""
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


# --- what became of it ---------------------------------------------------------------------------


@inlined
def record(trace: Integers, last: Integers, steps: Int, code: Int, seat: Int) -> Int:
    """Put a step into a trace, if there is room; returns the number of steps in it."""
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
    """Count a simulation along its path, and in the tables of rapid values of the rows there."""
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
