"""Policy improvement by a search without a tree.

The search uses a player that reports a policy and a value, such as a trained network, and measures
the returns of that player's most likely actions, the *candidates*. It redeals the hidden
information several times and tries each candidate in every deal. After the candidate, the policy
plays all seats until the rollout stops, and the player's value of the last position is the result.
The search then re-weights the policy by these results. The new policy stays close to the old one,
because the update is a step of magnetic mirror descent, as in update-equivalent search (Sokota et
al. 2023) and Ataraxos (2025).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.compiler.types import States
from armarl.core.game import Game, check_game
from armarl.players import protocol
from armarl.players.protocol import Thinker, Thoughts
from armarl.players.wrappers import split_draws
from armarl.search.deciding import by_lot, decide, likeliest, think_in_turn
from armarl.search.settings import LARGEST, MOST, check, check_number
from armarl.search.tree import SEEDS

MOST_STATES = 1 << 14  # approximate maximum number of rollouts that run at the same time


class _Rollouts(NamedTuple):
    """Rollouts that are played at the same time. Each array has one row per rollout."""

    root: NDArray[np.int64]  # index of the rollout's decision
    slot: NDArray[np.int64]  # index of the rollout's candidate among the candidates of the decision
    states: States  # the positions of the decisions, with the hidden information redealt
    actions: NDArray[np.int64]  # the candidates
    draws: NDArray[np.float64]  # the policy's random numbers, equal for all candidates in a deal


class PolicySearchPlayer:
    """A player with another player's policy, re-weighted by measured returns of likely actions.

    The same draw gives the same action. Like every player, this player sees only concealed states.

    Attributes:
        name: name in tables and records.
        game: the variant that it plays.
        player: the player that provides the policy.

    Example:
        >>> from armarl import make_game, make_player
        >>> from armarl.search import PolicySearchPlayer
        >>> game = make_game("armadora", players=2)
        >>> PolicySearchPlayer(game, make_player("random", game))
        Traceback (most recent call last):
        ValueError: search needs a player that reports probabilities and a value, got random
    """

    def __init__(
        self,
        game: Game,
        player: Thinker,
        simulations: int = 200,
        *,
        candidates: int = 8,
        turns: int = 1,
        longest: int = 64,
        eta: float = 10.0,
        entropy: float = 0.0,
        sample: bool = False,
    ) -> None:
        """Create a search player around a player that reports probabilities and a value.

        Args:
            game: the variant to play.
            player: the player that provides the policy.
            simulations: number of rollouts per decision, divided equally among the candidates. If
                fewer than `candidates` actions are legal, fewer rollouts are played.
            candidates: number of actions to try, the most likely ones.
            turns: number of further decisions of the searching seat in a rollout. The rollout stops
                when the last of these decisions is to be made, and that position is evaluated. 0
                evaluates right after the candidate.
            longest: maximum number of actions in a rollout after the candidate.
            eta: step size. A value that is higher by 1 adds `eta` to the logarithm of an action's
                probability.
            entropy: strength with which the new policy is flattened (made more uniform), in units
                of value. 0 does not flatten it.
            sample: whether to sample from the new policy instead of playing its most likely action.

        Raises:
            TypeError: `game` is not a `Game`, or a value is not a number, or not an integer where
                it counts something.
            ValueError: a value is out of range, or the player does not report probabilities and a
                value.
        """
        check_game(game)
        whole_number("simulations", simulations, 1, MOST)
        whole_number("candidates", candidates, 2, MOST)
        whole_number("turns", turns, 0, MOST)
        whole_number("longest", longest, 0, MOST)
        for name, number in (("eta", eta), ("entropy", entropy)):
            check_number(name, number)
            check(  # refuses NaN, and keeps products finite
                0 <= number <= LARGEST, f"{name} must be 0 to {LARGEST}, got {number}"
            )
        if not isinstance(player, Thinker):
            raise ValueError(
                f"search needs a player that reports probabilities and a value, got {player.name}"
            )
        states = game.new_states(0)
        seats = game.statuses(states)[1]
        _told(player, game.concealed(states, seats), seats, np.zeros(1))
        self.name = f"{player.name}+search:{simulations}"
        self.game, self.player = game, player
        self._simulations, self._candidates = simulations, candidates
        self._turns, self._longest = turns, longest
        self._eta, self._entropy, self._sample = eta, entropy, sample

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """See `armarl.Player`."""
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        take = by_lot if self._sample else likeliest
        return decide(self.game, self._think, take, states, seats, draws)

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Search with the arguments of `choose`. All fields of the thoughts are set.

        If it is not a seat's turn, its row has only a `value`, see `Thoughts`.
        """
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        return think_in_turn(self.game, self._think, self._from_afar, "win", states, seats, draws)

    def _from_afar(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the player's own values for seats that are not to move."""
        return _told(self.player, states, seats, draws)[1]

    def _think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Search in games that are not over, for the seats to move."""
        policy, value = _told(self.player, states, seats, draws)
        tried = np.argsort(-policy, axis=1, kind="stable")[:, : self._candidates]
        sums, counts = np.zeros(tried.shape), np.zeros(tried.shape)
        deals = max(1, self._simulations // tried.shape[1])
        for rows, some in _portions(states.size, deals, tried.shape[1]):
            rollouts = self._begin(states, seats, draws, policy, tried, rows, some / deals)
            np.add.at(sums, (rollouts.root, rollouts.slot), self._play(rollouts, seats))
            np.add.at(counts, (rollouts.root, rollouts.slot), 1)
        visits, values = np.zeros(policy.shape, np.int64), np.full(policy.shape, np.nan)
        np.put_along_axis(visits, tried, counts.astype(np.int64), axis=1)
        with np.errstate(invalid="ignore"):
            np.put_along_axis(values, tried, sums / counts, axis=1)
        better = self._reweighted(policy, values)
        found = np.where(np.isnan(values), value[:, None], values)
        return Thoughts(better, values, visits, (better * found).sum(axis=1))

    def _reweighted(
        self, policy: NDArray[np.float64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the policy after a step that raises the probabilities of good actions.

        It is a step of magnetic mirror descent. Untried actions count as if they had the mean value
        of the tried ones, weighted by the policy.
        """
        tried = ~np.isnan(values)
        weights = np.where(tried, policy, 0.0)
        mean = (weights * np.nan_to_num(values)).sum(axis=1, keepdims=True)
        mean /= weights.sum(axis=1, keepdims=True)
        gains = np.where(tried, values - mean, 0.0)
        with np.errstate(divide="ignore"):
            logits = np.log(policy) + self._eta * gains
        logits /= 1 + self._eta * self._entropy
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    # --- rollouts --------------------------------------------------------------------------------

    def _begin(
        self,
        states: States,
        seats: NDArray[np.int64],
        draws: NDArray[np.float64],
        policy: NDArray[np.float64],
        tried: NDArray[np.int64],
        rows: NDArray[np.int64],
        apart: NDArray[np.float64],
    ) -> _Rollouts:
        """Return new rollouts for some decisions, one for each deal and legal candidate.

        Args:
            states: concealed states.
            seats: the searching seats.
            draws: random numbers in [0, 1), one per state.
            policy: the player's policy, (states, actions).
            tried: the candidates, (states, candidates).
            rows: indices of the decisions.
            apart: one number in [0, 1) per deal. The random number of a deal is the decision's draw
                plus the deal's number in `apart`, modulo 1.
        """
        root, deal, slot = (
            part.reshape(-1)
            for part in np.meshgrid(
                rows, np.arange(apart.size), np.arange(tried.shape[1]), indexing="ij"
            )
        )
        legal = policy[root, tried[root, slot]] > 0
        root, deal, slot = root[legal], deal[legal], slot[legal]
        lots = (draws[root] + apart[deal]) % 1.0
        numbers, lots = split_draws(lots)
        dealt = self.game.determinised(
            self.game.taken(states, root), seats[root], (numbers * SEEDS).astype(np.int64)
        )
        return _Rollouts(root, slot, dealt, tried[root, slot], lots)

    def _play(self, rollouts: _Rollouts, seats: NDArray[np.int64]) -> NDArray[np.float64]:
        """Play the rollouts by the policy. Return their values for the searching seat."""
        game, states, own = self.game, rollouts.states, seats[rollouts.root]
        found, lots = np.zeros(states.size), rollouts.draws.copy()
        turns = np.full(states.size, self._turns)
        live, actions = np.arange(states.size), rollouts.actions
        for step in range(self._longest + 1):
            game.apply(states, live, actions)
            statuses, movers = game.statuses(game.taken(states, live))
            over = live[statuses != 0]
            if over.size:
                found[over] = game.returns(states, over)[np.arange(over.size), own[over]]
            live, movers = live[statuses == 0], movers[statuses == 0]
            turns[live] -= movers == own[live]
            stops = (turns[live] <= 0) | (step == self._longest)
            if stops.any():
                there = live[stops]
                found[there] = self._read(game.taken(states, there), movers[stops], own[there])
            live, movers = live[~stops], movers[~stops]
            if not live.size:
                return found
            chance, lots[live] = split_draws(lots[live])
            policy, _ = _told(self.player, self._seen(states, live, movers), movers, chance)
            actions = by_lot(policy, chance)
        return found

    def _read(
        self, states: States, movers: NDArray[np.int64], own: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the value of each state for the searching seat's side.

        In games with two sides, the player evaluates the position for the seat to move, and the
        sign changes if that seat is on the other side.
        """
        sides = np.array(self.game.sides)
        views = movers if sides.max() == 1 else own
        sign = np.where(sides[views] == sides[own], 1.0, -1.0)
        every = np.arange(states.size)
        seen = self._seen(states, every, views)
        return sign * _told(self.player, seen, views, np.zeros(states.size))[1]

    def _seen(self, states: States, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> States:
        return self.game.concealed(self.game.taken(states, rows), seats)


def _portions(
    decisions: int, deals: int, candidates: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield indices of some decisions and deals, for about `MOST_STATES` rollouts or fewer."""
    width = min(deals, max(1, MOST_STATES // candidates))
    height = max(1, MOST_STATES // (width * candidates))
    for row in range(0, decisions, height):
        rows = np.arange(row, min(row + height, decisions))
        for deal in range(0, deals, width):
            yield rows, np.arange(deal, min(deal + width, deals))


def _told(
    player: Thinker, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities and the values that a player reports for some states.

    Raises:
        ValueError: the player does not report both.
    """
    thoughts = player.think(states, seats, draws)
    if thoughts.probabilities is None or thoughts.value is None:
        raise ValueError(
            f"search needs a player that reports probabilities and a value, got {player.name}"
        )
    return thoughts.probabilities, thoughts.value
