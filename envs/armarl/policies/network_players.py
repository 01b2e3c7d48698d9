"""Players that use a network, for the logits of actions or for the values of positions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.compiler.types import States
from armarl.core.verbs import PLAYING
from armarl.networks.judge import JudgeNetwork
from armarl.networks.judge_kernels import weights_of
from armarl.networks.policy_network import Network, Tensors
from armarl.players import protocol
from armarl.players.advice import Advice
from armarl.players.protocol import Thoughts
from armarl.policies.afterstates import Afterstates
from armarl.policies.critic_lookahead import DEALS, TurnValues

if TYPE_CHECKING:
    from armarl.core.game import Game

_LARGE = 10.0  # gains below -_LARGE count as -_LARGE; the size of a large loss is irrelevant
_HUGE = 1e30  # largest logit; differences of such logits are still finite
SHARPNESS = 100.0  # an action that leads to a value 0.01 higher is e times as likely
DOUBT = 1.0  # number of standard errors by which an action must be better than the scripted choice
MOST_TEMPERATURE = 1e6  # at this temperature all legal actions are about equally likely
# An action must also raise the probability of a win by this share of 1 / sides, the probability if
# all sides are equally strong. Smaller gains may be errors of the critic.
LEAST_GAIN = 0.1


class NetworkPlayer:
    """A player with a network that reads the flat observation. It never plays illegal actions.

    `load_policy` makes such a player from a file. `armarl.networks` describes the networks.

    Attributes:
        name: the player's name.
        game: the game that the player plays.
        tensors: the weights, see `armarl.networks.policy_network.Network`.
        activation: "relu" or "tanh".
        sample: True to draw from the policy's distribution, False to take the likeliest action.
        temperature: number by which logits are divided, above 0 and at most 1e6. Below 1, likely
            actions become even likelier.
        advice: the scripted players whose advice the network weighs. Most networks have none.
        metadata: metadata of the file from which the player was loaded; empty without a file.

    Example:
        >>> import numpy as np
        >>> import armarl
        >>> policy = armarl.load_policy("armadora-2p")
        >>> states = policy.game.new_states(np.arange(3))  # three games, seat 0 to move
        >>> probabilities = policy.probabilities(states, np.zeros(3, np.int64))
        >>> probabilities.shape, probabilities.sum(axis=1).round(6).tolist()
        ((3, 229), [1.0, 1.0, 1.0])
    """

    network_class: ClassVar[type[Network]] = Network

    def __init__(
        self,
        game: Game,
        tensors: Tensors,
        activation: str = "relu",
        *,
        advisers: Sequence[str] = (),
        name: str = "network",
        sample: bool | None = None,
        temperature: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Make a player of `game` from weights that have been checked.

        Args:
            game: the game to play.
            tensors: the weights, see the attributes.
            activation: "relu" or "tanh".
            advisers: specifications of the scripted players whose advice the network weighs.
            name: the player's name.
            sample: see the attributes. None: True if a temperature is given, otherwise False.
            temperature: see the attributes. None: 1.
            metadata: metadata of the policy's file.

        Raises:
            TypeError: `temperature` is not a number, or `sample` is not a boolean.
            ValueError: `temperature` is out of range, or given with `sample=False`; or an adviser
                does not exist.
        """
        self.name = name
        self.tensors = tensors
        self.activation = activation
        self.sample, self.temperature = _checked_chance(sample, temperature)
        self.metadata = dict(metadata or {})
        self.game = game
        self.advice = Advice(game, advisers)
        self._prepare()

    def _prepare(self) -> None:
        """Build the network from the weights."""
        self._network = self.network_class(self.game, self.tensors, self.activation)

    def weights_digest(self) -> str:
        """Return the SHA-256 of the weights, activation, advisers, `sample` and `temperature`.

        Other metadata of the file, such as the measured strength, does not change the digest.
        """
        how = (self.activation, list(self.advice.advisers), self.sample, self.temperature)
        digest = hashlib.sha256(repr(how).encode())
        for name in sorted(self.tensors):
            tensor = np.asarray(self.tensors[name], order="C")
            digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
            digest.update(tensor.tobytes())
        return digest.hexdigest()

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """See `armarl.Player`. Without `sample`, the draws have no effect.

        Raises:
            TypeError, ValueError: an array has another dtype or size, a number is out of range, or
                a seat is not to move.
        """
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        protocol.check_movers(self.game, states, seats)
        logits = self.logits(states, seats)
        if not self.sample:
            return np.asarray(logits.argmax(axis=1), np.int64)
        reached = self._weights(logits).cumsum(axis=1)
        chosen = (reached > draws[:, None] * reached[:, -1:]).argmax(axis=1)
        return np.asarray(chosen, np.int64)

    def logits(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the logits of all actions for `seats[i]` in each state, float32 (batch, actions).

        Illegal actions have -inf. A row is all -inf if it is not its seat's turn.

        Args:
            states, seats: as for `probabilities`.

        Raises:
            TypeError, ValueError: as in `probabilities`.
        """
        observations, masks = self.game.views(states, seats)
        with np.errstate(over="ignore", invalid="ignore"):
            logits = self._network.logits(observations, self.advice.actions(states, seats))
        if not np.isfinite(logits).all():  # the weights are huge; the choice must still be legal
            np.nan_to_num(logits, copy=False, nan=-_HUGE, posinf=_HUGE, neginf=-_HUGE)
        logits[masks == 0] = -np.inf
        return logits

    def probabilities(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the action probabilities for `seats[i]` in each state.

        The probabilities are the softmax of the logits divided by the temperature. With `sample`,
        the player draws its action from them. Otherwise it plays the likeliest action.

        Args:
            states: records of the game, shape (batch,). They may contain hidden information.
            seats: the seat to move in each state, int64, shape (batch,).

        Returns:
            Probabilities, float64, shape (batch, actions). A row sums to 1, and illegal actions
            have 0. A row is all 0 if it is not its seat's turn or its game is over.

        Raises:
            TypeError, ValueError: an array has another dtype or size, a state is of another
                variant, or a seat does not exist.
        """
        weights = self._weights(self.logits(states, seats))
        whole = weights.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(weights, whole, out=weights, where=whole > 0))

    def values(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the network's expected return for `seats[i]` in each state, float32 (batch,).

        Any seat is allowed, even if it is not its turn. In games that are over, the value is still
        an estimate. Use `Game.returns` for the actual returns.

        Args:
            states: see `probabilities`.
            seats: any seat for each state, int64, shape (batch,).

        Raises:
            TypeError, ValueError: as in `probabilities`.
        """
        return self._network.values(self.game.views(states, seats)[0])

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Return the results of `probabilities` and `values`. The draws have no effect.

        Args:
            states, seats, draws: as for `choose`, but not every seat must be to move.

        Raises:
            TypeError, ValueError: as in `probabilities`.
        """
        value = self.values(states, seats).astype(np.float64)
        return Thoughts(self.probabilities(states, seats), value=value)

    def _of_movers(
        self, logits: NDArray[np.float32], states: States, seats: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Set a row to -inf, in place, if it is not its seat's turn. Return the same array."""
        statuses, movers = self.game.statuses(states)
        logits[(movers != seats) | (statuses != PLAYING)] = -np.inf
        return logits

    def _weights(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the unnormalised action probabilities."""
        most = logits.max(axis=1, keepdims=True)
        most[np.isneginf(most)] = 0  # no action is legal, because it is not the seat's turn
        gaps = np.subtract(logits, most, dtype=np.float64)
        with np.errstate(under="ignore", over="ignore"):  # gaps may become -inf; exp(-inf) is 0
            return np.asarray(np.exp(gaps / self.temperature))


class JudgingPlayer(NetworkPlayer):
    """A player with a judge, a value network: it prefers actions that lead to better positions.

    It tries every legal action on a copy of the state, one step ahead. See `afterstates`.

    Attributes:
        around: class of each wrapper that differs for this player, by the wrapper's name. For
            example, `armadora-2p+search:200` makes a `JudgeSearchPlayer`.
    """

    around: ClassVar[Mapping[str, str]] = {"search": "armarl.search:JudgeSearchPlayer"}

    def _prepare(self) -> None:
        self._judge = JudgeNetwork(self.game, self.tensors)
        self._net = weights_of(self.game, self.tensors)
        self._afterstates = Afterstates(self.game)

    def logits(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return `SHARPNESS` times the worth of the position after each legal action.

        `JudgeNetwork.worths` defines the worth. Illegal actions have the logit -inf.
        """
        found = self._afterstates.worths(states, seats, self._net)
        logits = np.full((states.size, len(self.game.actions)), -np.inf, np.float32)
        logits[found.decisions, found.actions] = SHARPNESS * found.worths
        return self._of_movers(logits, states, seats)

    def values(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the judge's expected return, see `NetworkPlayer.values`."""
        return self._judge.values(self._afterstates.surveys(states, seats))[0]


class CriticPlayer(NetworkPlayer):
    """A player that plays its first adviser's choice unless a critic values another action higher.

    A critic is a value network, and an adviser is a scripted player. The player tries every legal
    action, simulates some turns, and lets the critic evaluate the resulting position. In these
    turns the first adviser plays the player's own seat. One adviser, which changes from deal to
    deal, plays all other seats. See `critic_lookahead`.

    Attributes:
        deals: maximum number of deals in which an action is tried.
        turns: number of turns that end before the critic evaluates the position, including the
            current turn.
        least_gain: smallest gain in return that replaces the scripted choice.
        around: class of each wrapper that differs for this player, by the wrapper's name. For
            example, `armada-2p+search:200` makes a `CriticSearchPlayer`.
    """

    around: ClassVar[Mapping[str, str]] = {"search": "armarl.search:CriticSearchPlayer"}

    def __init__(
        self, game: Game, *network: Any, deals: int = DEALS, rounds: int = 1, **options: Any
    ):
        """Make a player. The arguments of `NetworkPlayer` must include at least one adviser.

        Args:
            game: the game to play.
            network: weights and activation, see `NetworkPlayer`.
            deals: maximum number of deals in which an action is tried.
            rounds: number of rounds before the critic evaluates the position; a round is one turn
                for each seat.
            options: keyword arguments of `NetworkPlayer`.
        """
        self.deals, self.turns = deals, rounds * game.players
        sides = max(game.sides) + 1
        self.least_gain = LEAST_GAIN / (sides - 1)  # a victory returns 1, a loss -1 / (sides - 1)
        super().__init__(game, *network, **options)

    def _prepare(self) -> None:
        super()._prepare()
        styles = [adviser.style for adviser in self.advice.players]
        self._turns = TurnValues(self.game, self.tensors, styles, self.deals, self.turns)

    def logits(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return `SHARPNESS` times a lower bound of each action's gain over the scripted choice."""
        found = self._turns.gains(states, seats)
        sure = np.maximum(found.gains - DOUBT * found.errors - self.least_gain, -_LARGE)
        sure[found.scripted[found.scripted >= 0]] = 0.0
        logits = np.full((states.size, len(self.game.actions)), -np.inf, np.float32)
        logits[found.decisions, found.actions] = SHARPNESS * sure
        return self._of_movers(logits, states, seats)

    def values(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the critic's expected return, see `NetworkPlayer.values`."""
        return np.tanh(super().values(states, seats) / 2)


def _checked_chance(sample: Any, temperature: Any) -> tuple[bool, float]:
    """Return `sample` and `temperature` with their defaults. A temperature turns sampling on.

    Raises:
        TypeError: `temperature` is not a number, or `sample` is not a boolean.
        ValueError: `temperature` is out of range, or given with `sample=False`.
    """
    if not isinstance(sample, bool | np.bool_ | None):
        raise TypeError(f"sample must be True or False, not {brief(repr(sample), 60)}")
    if temperature is None:
        return bool(sample), 1.0
    checked = _checked_temperature(temperature)
    if sample is not None and not sample:
        raise ValueError(
            f"temperature={checked:g} needs sampling, but sample is False; leave one of them out"
        )
    return True, checked


def _checked_temperature(temperature: Any) -> float:
    """Return the temperature as a float.

    If the temperature were out of range, a sampled action could be illegal.

    Raises:
        TypeError: the temperature is not a number.
        ValueError: the temperature is out of range.
    """
    if not isinstance(temperature, float | int | np.number) or isinstance(temperature, bool):
        raise TypeError(f"temperature must be a number, not {brief(repr(temperature))}")
    if not 0 < temperature <= MOST_TEMPERATURE:  # refuses NaN too
        limits = f"above 0 and at most {MOST_TEMPERATURE:g}"
        raise ValueError(f"temperature must be {limits}, not {temperature}")
    return float(temperature)
