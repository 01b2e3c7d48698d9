"""What actions are worth when the scripted player finishes the turn that they begin.

The rollout algorithm with a critic where rollouts stop (Tesauro & Galperin, 1997; Bertsekas, 2019):
every legal action is tried, the scripted player goes on from it to the end of the turn and plays
the others' as well, and there the critic says what to expect. So an action is judged where turns
of sensible players end, and not amid one, where all positions look much alike; and by what every
rival would make of it at once. What the seat is not shown is dealt anew, and all actions meet the
same deals, the same chance, and rivals who play alike: in one style in one deal, in the next style
in the next, since who they are is not known. The fewer actions are left, the more often each is
tried (sequential halving: Karnin, Koren & Somekh, 2013).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import kernel
from armarl.compiler.randomness import seed_chance
from armarl.compiler.types import Int, Real, States
from armarl.core import state_checks, threads
from armarl.core.batch_loops import Float32s, Float64s, Int8s, Int64s, own
from armarl.core.game import Game
from armarl.core.verbs import PLAYING, verbs
from armarl.networks.critic import PARTS
from armarl.networks.layer_kernels import add, bias, flat_layers, relu, run_layers
from armarl.networks.policy_network import Tensors
from armarl.players.scripted_playouts import SIMULATED, play_turns, scripted_action

FIRST_DEALS = 1, 2  # in which every action is tried; with two players, and with more
DEALS = 32  # in which the last of them is, the first ones included
BREADTH = 1.5  # after k deals at most BREADTH * DEALS / k go on, besides the scripted choice
HOPE = 0.05  # of the return, gained on average so far, without which none goes on
# Expected return from which on scripted play stands: it wins, and waiting does not.
WON = 0.7, 0.8  # with two players, and with more
LONGEST = 200  # actions that are played on before the critic is asked in any case
LEAST_DECISIONS = 1  # that are worth a thread of their own
DEALT = 2  # of `states`, after SIMULATED and SPARE
OUT = -1  # instead of a number of deals, or of a row


def with_players(players: int, numbers: tuple[float, float]) -> Any:
    """The number that holds with two players, or with more: one deal tells less of these."""
    return numbers[players > 2]


class Critic(NamedTuple):
    """A critic as the kernel takes it, see `layer_kernels.flat_layers`."""

    numbers: Float32s
    layers: Int64s


class Tries(NamedTuple):
    """Decisions whose legal actions are tried."""

    states: States  # (n,)
    seats: Int64s  # (n,) to move
    masks: Int8s  # (n, actions)
    first: Int64s  # (n,) row of the first legal action of each decision
    numbers: Int64s  # (n,) from which deals and chance follow
    critic: Critic
    styles: Float64s  # numbers of the scripted player's: the seat's, and in turn all others'
    first_deals: int  # in which every action is tried
    most_deals: int  # in which what is not left out is tried
    breadth: int  # most_deals times BREADTH
    turns: int  # that end before the critic is asked
    hope: float  # see HOPE
    won: float  # see WON
    spare: States  # (2 * threads, 3) scratch
    legal: Int8s  # (2 * threads, actions) scratch
    chance: NDArray[np.uint64]  # (2 * threads,) scratch
    seen: Float32s  # (2 * threads, observation size) scratch
    one: Float32s  # (2 * threads, widest) scratch
    other: Float32s  # (2 * threads, widest) scratch
    returns: Float64s  # (2 * threads, players) scratch
    scripted: Int64s  # (n,) written: the row of the scripted choice, or OUT of games that are over
    deals: Int64s  # (rows,) written: in how many deals each action was tried, or OUT
    gains: Float64s  # (rows,) written: sums of what it brought beyond the scripted choice
    squares: Float64s  # (rows,) written: sums of the squares of that


def try_turns(batch: Tries, i: int, thread: int) -> None:
    """Try the legal actions of decision `i`, in the order of their ids."""
    batch.scripted[i] = OUT
    if verbs.status(batch.states[i]) != PLAYING:
        return
    mine = own(thread)
    states, mask, chance = batch.spare[mine], batch.legal[mine], batch.chance
    states[SIMULATED] = batch.states[i]
    seed_chance(chance, mine, batch.numbers[i])
    scripted = scripted_action(states, mask, batch.styles[0], chance, mine)
    row = batch.first[i]
    for action in range(batch.masks.shape[1]):
        if batch.masks[i, action]:
            if action == scripted:
                batch.scripted[i] = row
            batch.deals[row], batch.gains[row], batch.squares[row] = 0, 0.0, 0.0
            row += 1
    left = row - batch.first[i] - 1
    if left > 0 and foreseen(batch, mine, batch.seats[i]) > batch.won:
        left = leave_out(batch, i, row, 0)
    for deal in range(batch.most_deals):
        if deal >= batch.first_deals:
            left = leave_out(batch, i, row, max(batch.breadth // deal, 1))
        if left == 0:
            return
        try_deal(batch, i, mine, scripted, deal)


def leave_out(batch: Tries, i: Int, last: Int, most: Int) -> Int:
    """Mark rows as OUT, but for the scripted choice; returns how many others are left.

    Of those up to `last`, at most so many stay which gained most, and they more than hope.
    """
    first, left = batch.first[i], 0
    for row in range(first, last):
        if row == batch.scripted[i] or batch.deals[row] == OUT:
            continue
        better = 0
        for other in range(first, last):
            better += batch.deals[other] != OUT and batch.gains[other] > batch.gains[row]
        if better >= most or batch.gains[row] <= batch.hope * batch.deals[row]:
            batch.deals[row] = OUT
        else:
            left += 1
    return left


def try_deal(batch: Tries, i: Int, mine: Int, scripted: Int, deal: Int) -> None:
    """Try the actions that are left in one deal, the scripted choice first."""
    states = batch.spare[mine]
    seat: Int = batch.seats[i]
    number: Int = batch.numbers[i] + deal
    states[DEALT] = batch.states[i]
    verbs.determinise(states[DEALT], seat, number)
    others: float = batch.styles[deal % batch.styles.size]
    usual = brought(batch, i, mine, scripted, number, others)
    row = batch.first[i]
    for action in range(batch.masks.shape[1]):
        if batch.masks[i, action]:
            if batch.deals[row] != OUT:
                if action != scripted:
                    gain = brought(batch, i, mine, action, number, others) - usual
                    batch.gains[row] += gain
                    batch.squares[row] += gain * gain
                batch.deals[row] += 1
            row += 1


def brought(batch: Tries, i: Int, mine: Int, action: Int, number: Int, others: float) -> Real:
    """What an action brings in the deal at hand, when the scripted player finishes the turn."""
    states = batch.spare[mine]
    seat: Int = batch.seats[i]
    states[SIMULATED] = states[DEALT]
    owner, style, turns = verbs.turn_of(states[SIMULATED]), batch.styles[0], batch.turns
    seed_chance(batch.chance, mine, number)
    verbs.apply(states[SIMULATED], action)
    mask, chance = batch.legal[mine], batch.chance
    play_turns(states, mask, owner, seat, style, others, turns, LONGEST, chance, mine)
    return foreseen(batch, mine, seat)


def foreseen(batch: Tries, mine: Int, seat: Int) -> Real:
    """What a seat may expect of the simulated position."""
    seen, one, other = batch.seen[mine], batch.one[mine], batch.other[mine]
    simulated = batch.spare[mine, SIMULATED]
    return worth(simulated, seat, batch.critic, seen, one, other, batch.returns[mine])


def worth(
    s: Any,
    seat: Int,
    critic: Critic,
    seen: Float32s,
    one: Float32s,
    other: Float32s,
    returns: Float64s,
) -> Real:
    """What a seat may expect of a position, or what it got if the game is over."""
    if verbs.status(s) != PLAYING:
        verbs.returns(s, 0, returns)
        return returns[seat]
    verbs.observe(s, seat, seen)
    return expected(critic, seen, one, other)


@kernel
def expected(critic: Critic, seen: Float32s, one: Float32s, other: Float32s) -> Real:
    """The return that a critic expects of an observation."""
    last = critic.layers.shape[0] - 1
    bias(critic, 0, one)
    add(critic, 0, seen, 0, one)
    if last > 0:
        relu(one, critic.layers[0, 2])
        run_layers(critic, 1, last, one, other)
    return math.tanh(one[0] / 2)


class Gains(NamedTuple):
    """The legal actions of some decisions, one row each, decision by decision.

    Attributes:
        decisions: int64 (rows,), which of the decisions.
        actions: int64 (rows,), ids in ascending order within a decision.
        scripted: int64 (decisions,), the row of the scripted choice of each; -1 of one in a game
            that is over, which has no rows.
        gains: float64 (rows,), the mean of what each brings beyond the scripted choice; -inf of
            what was left out early, or not tried because the game is as good as won.
        errors: float64 (rows,), the standard errors of these.
    """

    decisions: NDArray[np.int64]
    actions: NDArray[np.int64]
    scripted: NDArray[np.int64]
    gains: NDArray[np.float64]
    errors: NDArray[np.float64]


class Turns:
    """Tries the legal actions of decisions, and has a critic say what the turns bring."""

    def __init__(
        self, game: Game, tensors: Tensors, styles: Sequence[int], deals: int, turns: int
    ) -> None:
        """For a critic that `check_critic` has found right.

        Args:
            styles: numbers of the scripted player's, one or more: in the first the seat that
                decides plays on, and all others in each of them, deal by deal.
            deals: in which what gains most in the first ones is tried.
            turns: that end before the critic is asked, the one under way included.
        """
        self.game, self._deals, self._turns = game, deals, turns
        self._styles = np.array(styles, np.float64)
        self._critic = Critic(*flat_layers(tensors, PARTS))

    def gains(self, states: States, seats: NDArray[np.int64]) -> Gains:
        """What each legal action of `seats[i]`, to move in `states[i]`, gains.

        Args:
            states: (n,); what the seats are not shown makes no difference.

        Raises:
            TypeError, ValueError: not one seat for each state, or a seat that there is not.
        """
        state_checks.check_seats(self.game, states, seats)
        game, n = self.game, states.size
        states = game.concealed(states, seats)
        masks = game.legal_masks(states)
        decisions, actions = map(np.ascontiguousarray, np.nonzero(masks))
        numbers = masks.sum(axis=1, dtype=np.int64)
        first = numbers.cumsum() - numbers
        rows = 2 * threads.most_threads_for(n, least=LEAST_DECISIONS)
        widest = int(self._critic.layers[:, 2].max())
        batch = Tries(
            states=states,
            seats=seats,
            masks=masks,
            first=first,
            numbers=_numbers(states),
            critic=self._critic,
            styles=self._styles,
            first_deals=with_players(game.players, FIRST_DEALS),
            most_deals=self._deals,
            breadth=int(BREADTH * self._deals),
            turns=self._turns,
            hope=HOPE,
            won=with_players(game.players, WON),
            spare=np.full((rows, 3), game.blank),
            legal=np.empty((rows, masks.shape[1]), np.int8),
            chance=np.empty(rows, np.uint64),
            seen=np.empty((rows, game.observation.size), np.float32),
            one=np.empty((rows, widest), np.float32),
            other=np.empty((rows, widest), np.float32),
            returns=np.empty((rows, game.players)),
            scripted=np.empty(n, np.int64),
            deals=np.empty(decisions.size, np.int64),
            gains=np.empty(decisions.size),
            squares=np.empty(decisions.size),
        )
        game.run(try_turns, n, batch, least=LEAST_DECISIONS)
        deals = np.maximum(batch.deals, 1)
        gains = np.nan_to_num(batch.gains / deals, nan=-1.0)  # of a critic whose weights are huge
        spread = np.maximum(np.nan_to_num(batch.squares / deals) - gains**2, 0.0)
        gains[batch.deals == OUT] = -np.inf
        return Gains(decisions, actions, batch.scripted, gains, np.sqrt(spread / deals))


def _numbers(states: States) -> NDArray[np.int64]:
    """A number for each state, the same for the same: chance is no other where it is asked again.

    One for all would show every position the same throws of the dice.
    """
    rows = states.view(np.uint8).reshape(states.size, states.itemsize)
    return np.array([zlib.crc32(row) for row in rows], np.int64)  # type: ignore[arg-type]
