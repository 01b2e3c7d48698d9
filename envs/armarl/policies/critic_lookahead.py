"""The value of each action if the scripted player finishes the turn after the action.

This is the rollout algorithm with a critic, a value network, at the end of rollouts (Tesauro &
Galperin, 1997; Bertsekas, 2019). Every legal action is tried. After the action, the scripted player
finishes the turn and plays the other seats' turns, too. Then the critic estimates the return. An
action is therefore evaluated at the end of a sensible turn, after every opponent has answered. In
the middle of a turn, by contrast, all positions look much alike. The hidden information is redealt
several times. All actions are tried in the same deals, with the same chance results and the same
style of the opponents. The opponents' real style is unknown, so the simulated style changes from
deal to deal. The fewer actions are left, the more often each of them is tried (sequential halving:
Karnin, Koren & Somekh, 2013).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import kernel
from armarl.compiler.randomness import seed_chance
from armarl.compiler.types import Int, Real, States
from armarl.core import state_checks, threads
from armarl.core.batch_loops import Float32s, Float64s, Int8s, Int64s, own
from armarl.core.verbs import PLAYING, Fixed, verbs
from armarl.networks.critic import PARTS
from armarl.networks.layer_kernels import add, bias, flat_layers, relu, run_layers
from armarl.networks.policy_network import Tensors
from armarl.players.scripted_playouts import play_turns, scripted_action

if TYPE_CHECKING:
    from armarl.core.game import Game

# Number of deals in which every action is tried: for two players, and for more players. With more
# players, a single deal says less about an action.
FIRST_DEALS = 1, 2
DEALS = 32  # maximum number of deals in which an action is tried, including the first deals
BREADTH = 1.5  # after k deals at most BREADTH * DEALS / k actions remain, plus the scripted choice
HOPE = 0.05  # an action is dropped unless its mean gain in expected return is higher
# Above this expected return the scripted choice is kept. In a game that is nearly won, the scripted
# player goes for the win, but the critic's choices may only delay it.
WON = 0.7, 0.8  # for two players, and for more players
LONGEST = 200  # maximum number of actions in a rollout before the critic evaluates the position
LEAST_DECISIONS = 1  # minimum number of decisions per thread
SIMULATED, DEALT = range(2)  # indices in `tried`
OUT = -1  # value in `deals` for a dropped action, and in `scripted` for a game that is over


def with_players(players: int, numbers: tuple[float, float]) -> Any:
    """Return the first number for two players, and the second one for more players."""
    return numbers[players > 2]


class Critic(NamedTuple):
    """A critic's weights for compiled code, from `layer_kernels.flat_layers`."""

    numbers: Float32s
    layers: Int64s


class Tries(NamedTuple):
    """A batch of decisions whose legal actions are tried."""

    states: States  # (n,)
    seats: Int64s  # (n,) seats to move
    masks: Int8s  # (n, actions)
    first: Int64s  # (n,) index in `deals` of the first legal action of each decision
    numbers: Int64s  # (n,) seeds of deals and chance
    critic: Critic
    styles: Float64s  # styles[0] for the deciding seat; the others' style changes with the deal
    first_deals: int  # number of deals in which every action is tried
    most_deals: int  # number of deals in which the last remaining actions are tried
    breadth: int  # most_deals times BREADTH
    turns: int  # number of turns that end before the critic evaluates the position
    hope: float  # see HOPE
    won: float  # see WON
    tried: States  # (2 * threads, 2) scratch
    spare: States  # (2 * threads, 1) scratch, for the scripted player
    legal: Int8s  # (2 * threads, actions) scratch
    chance: NDArray[np.uint64]  # (2 * threads,) scratch
    seen: Float32s  # (2 * threads, observation size) scratch
    one: Float32s  # (2 * threads, widest) scratch
    other: Float32s  # (2 * threads, widest) scratch
    returns: Float64s  # (2 * threads, players) scratch
    scripted: Int64s  # (n,) output: row of the scripted choice, or OUT if the game is over
    deals: Int64s  # (rows,) output: number of deals in which each action was tried, or OUT
    gains: Float64s  # (rows,) output: sums of the gains over the scripted choice
    squares: Float64s  # (rows,) output: sums of the squared gains


def try_turns(batch: Tries, i: int, thread: int, fixed: Fixed) -> None:
    """Try the legal actions of decision `i`, and write the results to the output arrays."""
    batch.scripted[i] = OUT
    if verbs.status(batch.states[i]) != PLAYING:
        return
    mine = own(thread)
    states, mask, spare, chance = (
        batch.tried[mine],
        batch.legal[mine],
        batch.spare[mine],
        batch.chance,
    )
    states[SIMULATED] = batch.states[i]
    seed_chance(chance, mine, batch.numbers[i])
    s, style = states[SIMULATED], batch.styles[0]
    scripted = scripted_action(s, mask, spare, style, chance, mine, fixed)
    row = batch.first[i]
    for action in range(batch.masks.shape[1]):
        if batch.masks[i, action]:
            if action == scripted:
                batch.scripted[i] = row
            batch.deals[row], batch.gains[row], batch.squares[row] = 0, 0.0, 0.0
            row += 1
    left = row - batch.first[i] - 1
    if left > 0 and expected_return(batch, mine, batch.seats[i], fixed) > batch.won:
        left = leave_out(batch, i, row, 0)
    for deal in range(batch.most_deals):
        if deal >= batch.first_deals:
            left = leave_out(batch, i, row, max(batch.breadth // deal, 1))
        if left == 0:
            return
        try_deal(batch, i, mine, scripted, deal, fixed)


def leave_out(batch: Tries, i: Int, last: Int, most: Int) -> Int:
    """Drop actions. Return the number of remaining actions, without the scripted choice.

    The scripted choice is never dropped. A dropped action has OUT in `deals`. At most `most` other
    actions remain: those with the largest gains, if their mean gain exceeds `hope`. The decision's
    rows end before `last`.
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


def try_deal(batch: Tries, i: Int, mine: Int, scripted: Int, deal: Int, fixed: Fixed) -> None:
    """Try the remaining actions in one deal, the scripted choice first."""
    states = batch.tried[mine]
    seat: Int = batch.seats[i]
    number: Int = batch.numbers[i] + deal
    states[DEALT] = batch.states[i]
    verbs.determinise(states[DEALT], seat, number)
    others: float = batch.styles[deal % batch.styles.size]
    usual = turn_result(batch, i, mine, scripted, number, others, fixed)
    row = batch.first[i]
    for action in range(batch.masks.shape[1]):
        if batch.masks[i, action]:
            if batch.deals[row] != OUT:
                if action != scripted:
                    gain = turn_result(batch, i, mine, action, number, others, fixed) - usual
                    batch.gains[row] += gain
                    batch.squares[row] += gain * gain
                batch.deals[row] += 1
            row += 1


def turn_result(
    batch: Tries, i: Int, mine: Int, action: Int, number: Int, others: float, fixed: Fixed
) -> Real:
    """Return an action's value in the current deal if the scripted player finishes the turn."""
    states = batch.tried[mine]
    seat: Int = batch.seats[i]
    states[SIMULATED] = states[DEALT]
    s, style, turns = states[SIMULATED], batch.styles[0], batch.turns
    owner = verbs.turn_of(s)
    seed_chance(batch.chance, mine, number)
    verbs.apply(s, action, *fixed)
    mask, spare, chance = batch.legal[mine], batch.spare[mine], batch.chance
    play_turns(s, mask, spare, owner, seat, style, others, turns, LONGEST, chance, mine, fixed)
    return expected_return(batch, mine, seat, fixed)


def expected_return(batch: Tries, mine: Int, seat: Int, fixed: Fixed) -> Real:
    """Return a seat's expected return in the simulated position."""
    seen, one, other = batch.seen[mine], batch.one[mine], batch.other[mine]
    simulated = batch.tried[mine, SIMULATED]
    return worth(simulated, seat, batch.critic, seen, one, other, batch.returns[mine], fixed)


def worth(
    s: Any,
    seat: Int,
    critic: Critic,
    seen: Float32s,
    one: Float32s,
    other: Float32s,
    returns: Float64s,
    fixed: Fixed,
) -> Real:
    """Return a seat's expected return in a position, or its actual return if the game is over."""
    if verbs.status(s) != PLAYING:
        verbs.returns(s, 0, returns)
        return returns[seat]
    verbs.observe(s, seat, seen, *fixed)
    return expected(critic, seen, one, other)


@kernel
def expected(critic: Critic, seen: Float32s, one: Float32s, other: Float32s) -> Real:
    """Return a critic's expected return for an observation."""
    last = critic.layers.shape[0] - 1
    bias(critic, 0, one)
    add(critic, 0, seen, 0, one)
    if last > 0:
        relu(one, critic.layers[0, 2])
        run_layers(critic, 1, last, one, other)
    return math.tanh(one[0] / 2)


class Gains(NamedTuple):
    """The legal actions of some decisions, one row each, grouped by decision.

    Attributes:
        decisions: index of the decision of each row, int64, shape (rows,).
        actions: action ids, int64, shape (rows,), ascending within a decision.
        scripted: row of each decision's scripted choice, int64, shape (decisions,). It is -1 for
            a game that is over, which has no rows.
        gains: mean gain of each action over the scripted choice, float64, shape (rows,). It is
            -inf for actions that were dropped early, or not tried because the game is nearly won.
        errors: standard errors of the gains, float64, shape (rows,).
    """

    decisions: NDArray[np.int64]
    actions: NDArray[np.int64]
    scripted: NDArray[np.int64]
    gains: NDArray[np.float64]
    errors: NDArray[np.float64]


class TurnValues:
    """The gains of legal actions over the scripted choice, from rollouts and a critic."""

    def __init__(
        self, game: Game, tensors: Tensors, styles: Sequence[int], deals: int, turns: int
    ) -> None:
        """Create from a critic whose weights have passed `check_critic`.

        Args:
            game: the game.
            tensors: the critic's weights.
            styles: style numbers of the scripted player, one or more. The deciding seat continues
                in the first style. All other seats play in one style, which changes from deal to
                deal.
            deals: number of deals in which the most promising actions are tried.
            turns: number of turns that end before the critic evaluates the position, including the
                current turn.
        """
        self.game, self._deals, self._turns = game, deals, turns
        self._styles = np.array(styles, np.float64)
        self._critic = Critic(*flat_layers(tensors, PARTS))

    def gains(self, states: States, seats: NDArray[np.int64]) -> Gains:
        """Return the gain of each legal action of `seats[i]`, the seat to move in `states[i]`.

        Args:
            states: state records, shape (n,). Information hidden from the seats has no influence.
            seats: the seats to move, int64, shape (n,).

        Raises:
            TypeError, ValueError: there is not one seat for each state, or a seat does not exist.
        """
        states, seats = state_checks.check_seats(self.game, states, seats)
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
            tried=np.full((rows, 2), game.blank),
            spare=np.zeros((rows, 1), game.scratch),
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
        gains = np.nan_to_num(batch.gains / deals, nan=-1.0)  # NaN if a critic's weights are huge
        spread = np.maximum(np.nan_to_num(batch.squares / deals) - gains**2, 0.0)
        gains[batch.deals == OUT] = -np.inf
        return Gains(decisions, actions, batch.scripted, gains, np.sqrt(spread / deals))


def _numbers(states: States) -> NDArray[np.int64]:
    """Return a seed for each state: a checksum of the state, so that repeated calls agree.

    If all states had the same seed, every position would have the same dice rolls.
    """
    rows = states.view(np.uint8).reshape(states.size, states.itemsize)
    return np.array([zlib.crc32(row) for row in rows], np.int64)  # type: ignore[arg-type]
