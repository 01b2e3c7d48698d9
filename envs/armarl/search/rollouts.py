"""Rollouts for every game: what an action brings when scripted players go on from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import seed_chance, uniform
from armarl.compiler.types import Int
from armarl.core.batch_loops import own
from armarl.core.verbs import PLAYING, verbs
from armarl.players.scripted_playouts import SIMULATED, play_turns, scripted_action
from armarl.search.tree import SEEDS, Chance, Mask

SCRIPTED, ILLEGAL = -1.0, 2.0  # lots


class RolloutWork(NamedTuple):
    """What a thread works on; the first axis is for threads (see `loops.own`)."""

    states: NDArray[np.void]  # (rows, 2), that of the rollout, and the scripted player's
    masks: Mask  # (rows, actions)
    chance: Chance  # (rows,)
    returns: NDArray[np.float64]  # (rows, players)


class Lots(NamedTuple):
    """Decisions whose candidates are to be found."""

    states: NDArray[np.void]  # (games,) as the deciding seats know them
    numbers: NDArray[np.int64]  # (games,) from which all chance follows
    lots: NDArray[np.float64]  # (games, actions) written
    work: RolloutWork
    style: float  # number of the scripted player's


class Rollouts(NamedTuple):
    """Candidates for many decisions, and what they brought so far; the first axis is the decision.

    Candidate 0 is the scripted choice, with which the others are compared deal by deal.
    """

    states: NDArray[np.void]  # (games,) as the deciding seats know them
    seats: NDArray[np.int64]  # (games,) who decides
    numbers: NDArray[np.int64]  # (games,) from which deals and chance follow
    candidates: NDArray[np.int64]  # (games, candidates) actions; those still tried come first
    left: NDArray[np.int64]  # (games,) how many these are
    deals: NDArray[np.int64]  # (games,) to be played in this call, each with all that are left
    visits: NDArray[np.int64]  # (games, candidates) deals in which each was tried
    totals: NDArray[np.float64]  # (games, candidates) sums of what they brought their seat
    gains: NDArray[np.float64]  # (games, candidates) sums of what they brought beyond candidate 0
    squares: NDArray[np.float64]  # (games, candidates) sums of the squares of that
    work: RolloutWork
    style: float  # number of the scripted player's
    turns: int  # that end before the position is evaluated; below 0: to the end of the game
    longest: int  # actions before it is evaluated in any case
    reward: int  # number of the game's reward, see `verbs.returns`


def draw_lots(batch: Lots, i: int, thread: int) -> None:
    """A lot in [0, 1) for every legal action, SCRIPTED for the scripted choice, else ILLEGAL."""
    work, lots, mine = batch.work, batch.lots[i], own(thread)
    states, mask, chance = work.states[mine], work.masks[mine], work.chance
    seed_chance(chance, mine, batch.numbers[i])
    states[SIMULATED] = batch.states[i]
    verbs.legal(states[SIMULATED], mask)
    for action in range(mask.size):
        lots[action] = uniform(chance, mine) if mask[action] else ILLEGAL
    scripted = scripted_action(states, mask, batch.style, chance, mine)
    lots[scripted] = SCRIPTED


def try_candidates(batch: Rollouts, i: int, thread: int) -> None:
    """Play on from every candidate that is left, in the same deals and with the same chance."""
    work, mine, seat = batch.work, own(thread), batch.seats[i]
    owner = verbs.turn_of(batch.states[i])
    states, mask, chance = work.states[mine], work.masks[mine], work.chance
    returns, candidates = work.returns[mine], batch.candidates[i]
    totals, gains, squares = batch.totals[i], batch.gains[i], batch.squares[i]
    visits, left = batch.visits[i], batch.left[i]
    for _ in range(batch.deals[i]):
        number = batch.numbers[i] + visits[0]
        first = 0.0
        for k in range(left):
            states[SIMULATED] = batch.states[i]
            s = states[SIMULATED]
            seed_chance(chance, mine, number)
            deal: Int = np.int64(uniform(chance, mine) * SEEDS)
            verbs.determinise(s, seat, deal)
            verbs.apply(s, candidates[k])
            style, turns = batch.style, batch.turns
            play_turns(states, mask, owner, seat, style, style, turns, batch.longest, chance, mine)
            if verbs.status(s) == PLAYING:
                verbs.evaluate(s, returns)
            else:
                verbs.returns(s, batch.reward, returns)
            brought = returns[seat]
            if k == 0:
                first = brought
            visits[k] += 1
            totals[k] += brought
            gains[k] += brought - first
            squares[k] += (brought - first) ** 2
