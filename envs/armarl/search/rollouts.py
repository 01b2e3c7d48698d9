"""Rollouts for every game: try an action, then let scripted players continue the game."""

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

# `lots` contains a random number in [0, 1) for each action. The actions with the lowest numbers are
# the candidates. The scripted choice gets SCRIPTED, so it is the first one. Illegal actions get
# ILLEGAL, so they are the last ones.
SCRIPTED, ILLEGAL = -1.0, 2.0


class RolloutWork(NamedTuple):
    """Working memory of the threads. `batch_loops.own` gives a thread's index on the first axis."""

    states: States  # (rows,), the rollout's state
    masks: Mask  # (rows, actions)
    spare: States  # (rows, 1), for the scripted player
    chance: Chance  # (rows,)
    returns: NDArray[np.float64]  # (rows, players)


class CandidateDraws(NamedTuple):
    """Decisions for which `draw_candidates` draws random candidates."""

    states: NDArray[np.void]  # (decisions,) concealed states
    numbers: NDArray[np.int64]  # (decisions,) seeds of all random numbers
    lots: NDArray[np.float64]  # (decisions, actions), output, see SCRIPTED
    work: RolloutWork
    style: float  # index of the scripted player's style


class Rollouts(NamedTuple):
    """Candidates for many decisions, with their results so far. The first axis is the decision.

    Candidate 0 is the scripted choice. In each deal, the other candidates are compared with it.
    """

    states: NDArray[np.void]  # (decisions,) concealed states
    seats: NDArray[np.int64]  # (decisions,) the deciding seats
    numbers: NDArray[np.int64]  # (decisions,) seeds of deals and random numbers
    candidates: NDArray[np.int64]  # (decisions, candidates) actions; the remaining ones come first
    left: NDArray[np.int64]  # (decisions,) number of remaining (not dropped) candidates
    deals: NDArray[np.int64]  # (decisions,) deals to play now with each remaining candidate
    visits: NDArray[np.int64]  # (decisions, candidates) number of deals played with each candidate
    totals: NDArray[np.float64]  # (decisions, candidates) sums of the deciding seat's values
    gains: NDArray[np.float64]  # (decisions, candidates) sums of value minus candidate 0's value
    squares: NDArray[np.float64]  # (decisions, candidates) sums of (value - candidate 0's value)**2
    work: RolloutWork
    style: float  # index of the scripted player's style
    turns: int  # number of turn ends before the evaluation; below 0: play to the end of the game
    longest: int  # maximum number of actions before the evaluation
    reward: int  # index of the game's reward, see `verbs.returns`


def draw_candidates(batch: CandidateDraws, i: int, thread: int, fixed: Fixed) -> None:
    """Write a random number in [0, 1) to `lots` for each legal action of decision `i`.

    The scripted choice gets SCRIPTED instead, and illegal actions get ILLEGAL.
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
    """Play the rollouts of decision `i`.

    All remaining candidates are tried in the same deals with the same random numbers.
    """
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
