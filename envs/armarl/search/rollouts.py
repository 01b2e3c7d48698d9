"""Rollouts for every game: the result of an action when scripted players play on from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import seed_chance, uniform
from armarl.compiler.types import Int, States
from armarl.core.batch_loops import own
from armarl.core.verbs import PLAYING, Fixed, verbs
from armarl.players.scripted_playouts import play_turns, scripted_action
from armarl.search.tree import SEEDS, Chance, Mask

SCRIPTED, ILLEGAL = -1.0, 2.0  # special values in `lots`


class RolloutWork(NamedTuple):
    """Scratch memory of the threads. The first axis is that of `batch_loops.own`."""

    states: States  # (rows,), the rollout's state
    masks: Mask  # (rows, actions)
    spare: States  # (rows, 1), for the scripted player
    chance: Chance  # (rows,)
    returns: NDArray[np.float64]  # (rows, players)


class CandidateDraws(NamedTuple):
    """Decisions that need candidates."""

    states: NDArray[np.void]  # (games,) as the deciding seats know them
    numbers: NDArray[np.int64]  # (games,) seeds of all random numbers
    lots: NDArray[np.float64]  # (games, actions), output
    work: RolloutWork
    style: float  # index of the scripted player's style


class Rollouts(NamedTuple):
    """Candidates for many decisions, with their results so far. The first axis is the decision.

    Candidate 0 is the scripted choice. The others are compared with it deal by deal.
    """

    states: NDArray[np.void]  # (games,) as the deciding seats know them
    seats: NDArray[np.int64]  # (games,) the deciding seats
    numbers: NDArray[np.int64]  # (games,) seeds of deals and random numbers
    candidates: NDArray[np.int64]  # (games, candidates) actions; those still tried come first
    left: NDArray[np.int64]  # (games,) how many are still tried
    deals: NDArray[np.int64]  # (games,) deals to play now, each with all candidates left
    visits: NDArray[np.int64]  # (games, candidates) deals played with each
    totals: NDArray[np.float64]  # (games, candidates) sums of the deciding seat's values
    gains: NDArray[np.float64]  # (games, candidates) sums of value minus candidate 0's value
    squares: NDArray[np.float64]  # (games, candidates) sums of the squares of these
    work: RolloutWork
    style: float  # index of the scripted player's style
    turns: int  # turn ends before the evaluation; below 0: play to the end of the game
    longest: int  # most actions before the evaluation
    reward: int  # index of the game's reward, see `verbs.returns`


def draw_candidates(batch: CandidateDraws, i: int, thread: int, fixed: Fixed) -> None:
    """Draw a number in [0, 1) for each legal action; mark the scripted choice and illegal actions.

    They get SCRIPTED and ILLEGAL.
    """
    work, lots, mine = batch.work, batch.lots[i], own(thread)
    s, mask, chance = work.states[mine], work.masks[mine], work.chance
    seed_chance(chance, mine, batch.numbers[i])
    work.states[mine] = batch.states[i]
    verbs.legal(s, mask, *fixed)
    for action in range(mask.size):
        lots[action] = uniform(chance, mine) if mask[action] else ILLEGAL
    scripted = scripted_action(s, mask, work.spare[mine], batch.style, chance, mine, fixed)
    lots[scripted] = SCRIPTED


def try_candidates(batch: Rollouts, i: int, thread: int, fixed: Fixed) -> None:
    """Play on from every candidate left, in the same deals with the same random numbers."""
    work, mine, seat = batch.work, own(thread), batch.seats[i]
    owner = verbs.turn_of(batch.states[i])
    s, mask, spare, chance = work.states[mine], work.masks[mine], work.spare[mine], work.chance
    returns, candidates = work.returns[mine], batch.candidates[i]
    totals, gains, squares = batch.totals[i], batch.gains[i], batch.squares[i]
    visits, left = batch.visits[i], batch.left[i]
    for _ in range(batch.deals[i]):
        number = batch.numbers[i] + visits[0]
        first = 0.0
        for k in range(left):
            work.states[mine] = batch.states[i]
            seed_chance(chance, mine, number)
            deal: Int = np.int64(uniform(chance, mine) * SEEDS)
            verbs.determinise(s, seat, deal)
            verbs.apply(s, candidates[k], *fixed)
            style, turns = batch.style, batch.turns
            most = batch.longest
            play_turns(s, mask, spare, owner, seat, style, style, turns, most, chance, mine, fixed)
            if verbs.status(s) == PLAYING:
                verbs.evaluate(s, returns, *fixed)
            else:
                verbs.returns(s, batch.reward, returns)
            result = returns[seat]
            if k == 0:
                first = result
            visits[k] += 1
            totals[k] += result
            gains[k] += result - first
            squares[k] += (result - first) ** 2
