"""Players who act by a network: by its logits, or by what it says of where actions lead."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.core.verbs import PLAYING
from armarl.networks.judge import JudgeNetwork
from armarl.networks.judge_kernels import weights_of
from armarl.networks.policy_network import Network, Tensors
from armarl.players import protocol
from armarl.players.advice import Advice
from armarl.players.protocol import Thoughts
from armarl.policies.afterstates import Afterstates
from armarl.policies.critic_lookahead import DEALS, Turns

_LARGE = 10.0  # a loss of which nothing more need be known
_HUGE = 1e30  # a logit beyond which none is; differences of them are numbers
SHARPNESS = 100.0  # an action that leads to 0.01 more is e times as likely
DOUBT = 1.0  # standard errors by which an action must be better than the scripted choice
MOST_TEMPERATURE = 1e6  # by which all legal actions are equally likely anyway
LEAST_GAIN = 0.1  # and by so much of a fair chance to win besides: a critic errs


class NetworkPlayer:
    """Plays by a network over the flat observation (`armarl.networks`); illegal actions are masked.

    Attributes:
        tensors: the weights, see `armarl.networks.policy_network.Network`.
        activation: "relu" or "tanh".
        sample: draw from the policy's distribution instead of taking the likeliest action.
        temperature: logits are divided by it; below 1 the likelier actions gain. Above 0, to 1e6;
            who is given one samples.
        advice: of scripted players, which the network weighs; mostly none.
        metadata: of the file that it was loaded from, else empty.
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
        """A player of `game` by weights that have been checked; see the attributes.

        Args:
            sample: None: where a temperature is given.
            temperature: None: 1.

        Raises:
            TypeError: the temperature is no number, or `sample` neither true nor false.
            ValueError: it is out of range, or given to who is not to sample; or there is no such
                adviser.
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
        """Make of the weights what plays by them."""
        self._network = self.network_class(self.game, self.tensors, self.activation)

    def weights_digest(self) -> str:
        """By what it is known again: a SHA-256 of the weights and of how they are played by.

        What else a file says, such as how strong it was measured to be, counts for nothing.
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
        protocol.check_question(self.game, states, seats, draws)
        protocol.check_movers(self.game, states, seats)
        logits = self.logits(states, seats)
        if not self.sample:
            return np.asarray(logits.argmax(axis=1), np.int64)
        reached = self._weights(logits).cumsum(axis=1)
        chosen = (reached > draws[:, None] * reached[:, -1:]).argmax(axis=1)
        return np.asarray(chosen, np.int64)

    def logits(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """The logits of all actions of `seats[i]`, to move in each state, float32 (batch, actions).

        They are -inf where an action is illegal, and throughout where the seat is not to move.
        """
        observations, masks = self.game.views(states, seats)
        with np.errstate(over="ignore", invalid="ignore"):
            logits = self._network.logits(observations, self.advice.actions(states, seats))
        if not np.isfinite(logits).all():  # of huge weights; what is played must be legal still
            np.nan_to_num(logits, copy=False, nan=-_HUGE, posinf=_HUGE, neginf=-_HUGE)
        logits[masks == 0] = -np.inf
        return logits

    def probabilities(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float64]:
        """How the policy of `seats[i]`, to move in each state, spreads over the actions.

        It is the softmax of the logits by their temperature. With `sample` it is drawn from;
        without, the likeliest action is played.

        Args:
            states: (batch,) records of the game, which may hold what the seats are not shown.
            seats: (batch,) int64.

        Returns:
            float64 (batch, actions); the rows add up to 1, illegal actions have 0. A row of a seat
            that is not to move is 0 throughout, and so are those of games that are over.

        Raises:
            TypeError, ValueError: not one seat for each state, or a seat that there is not.
        """
        weights = self._weights(self.logits(states, seats))
        whole = weights.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(weights, whole, out=weights, where=whole > 0))

    def values(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """The return that the network expects for `seats[i]` in each state, float32 (batch,).

        Any seat may be asked for, whoever is to move. It is an estimate even where the game is
        over: what it brought, `Game.returns` says.

        Args:
            states, seats: see `probabilities`.

        Raises:
            TypeError, ValueError: not one seat for each state, or a seat that there is not.
        """
        return self._network.values(self.game.views(states, seats)[0])

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """The policy's probabilities, and the return that the network expects."""
        value = self.values(states, seats).astype(np.float64)
        return Thoughts(self.probabilities(states, seats), value=value)

    def _of_movers(
        self, logits: NDArray[np.float32], states: States, seats: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The same with -inf throughout where the seat is not to move."""
        statuses, movers = self.game.statuses(states)
        logits[(movers != seats) | (statuses != PLAYING)] = -np.inf
        return logits

    def _weights(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """What the actions' probabilities are in proportion to."""
        most = logits.max(axis=1, keepdims=True)
        most[np.isneginf(most)] = 0  # nothing is legal: the seat is not to move
        gaps = np.subtract(logits, most, dtype=np.float64)
        with np.errstate(under="ignore", over="ignore"):  # to 0, and to -inf first
            return np.asarray(np.exp(gaps / self.temperature))


class JudgingPlayer(NetworkPlayer):
    """Plays by a judge of positions: the better what an action leads to, the likelier it is.

    It tries every legal action on a copy, one step ahead and no further; see `afterstates`.

    Attributes:
        around: what `+NAME` puts around him, where that is not what it puts around others.
    """

    around: ClassVar[Mapping[str, str]] = {"search": "armarl.search:JudgeSearchPlayer"}

    def _prepare(self) -> None:
        self._judge = JudgeNetwork(self.game, self.tensors)
        self._net = weights_of(self.game, self.tensors)
        self._afterstates = Afterstates(self.game)

    def logits(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `NetworkPlayer.logits`: `SHARPNESS` times what each action leads to."""
        found = self._afterstates.worths(states, seats, self._net)
        logits = np.full((states.size, len(self.game.actions)), -np.inf, np.float32)
        logits[found.decisions, found.actions] = SHARPNESS * found.worths
        return self._of_movers(logits, states, seats)

    def values(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `NetworkPlayer.values`: the return that the judge expects."""
        return self._judge.values(self._afterstates.surveys(states, seats))[0]


class CriticPlayer(NetworkPlayer):
    """Plays its first adviser's choice, or what a critic holds for better some turns later.

    It tries every legal action; the first adviser plays on for its seat, and each of them in turn,
    deal by deal, for all others; see `critic_lookahead`.

    Attributes:
        deals: in which the last of the actions is tried, at most.
        turns: that end before the critic is asked, the one under way included.
        least_gain: of the return, without which the scripted choice stands.
        around: what `+NAME` puts around him, where that is not what it puts around others.
    """

    around: ClassVar[Mapping[str, str]] = {"search": "armarl.search:CriticSearchPlayer"}

    def __init__(
        self, game: Game, *network: Any, deals: int = DEALS, rounds: int = 1, **options: Any
    ):
        """As `NetworkPlayer`, with one adviser or more.

        Args:
            rounds: of turns, one for each seat, before the critic is asked.
        """
        self.deals, self.turns = deals, rounds * game.players
        sides = max(game.sides) + 1
        self.least_gain = LEAST_GAIN / (sides - 1)  # what losing costs, if a victory is 1
        super().__init__(game, *network, **options)

    def _prepare(self) -> None:
        super()._prepare()
        styles = [adviser.style for adviser in self.advice.players]
        self._turns = Turns(self.game, self.tensors, styles, self.deals, self.turns)

    def logits(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `NetworkPlayer.logits`: `SHARPNESS` times what each action surely gains."""
        found = self._turns.gains(states, seats)
        sure = np.maximum(found.gains - DOUBT * found.errors - self.least_gain, -_LARGE)
        sure[found.scripted[found.scripted >= 0]] = 0.0
        logits = np.full((states.size, len(self.game.actions)), -np.inf, np.float32)
        logits[found.decisions, found.actions] = SHARPNESS * sure
        return self._of_movers(logits, states, seats)

    def values(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `NetworkPlayer.values`: the return that the critic expects."""
        return np.tanh(super().values(states, seats) / 2)


def _checked_chance(sample: Any, temperature: Any) -> tuple[bool, float]:
    """Whether a player samples, and at which temperature: to give him one is to have him sample.

    Raises:
        TypeError: the temperature is no number, or `sample` neither true nor false.
        ValueError: it is out of range, or given to who is not to sample.
    """
    if not isinstance(sample, bool | np.bool_ | None):
        raise TypeError(f"sample must be True or False, not {brief(repr(sample), 60)}")
    if temperature is None:
        return bool(sample), 1.0
    checked = _checked_temperature(temperature)
    if sample is not None and not sample:
        raise ValueError(
            f"temperature={checked:g} is for who samples, and sample is False: leave one out"
        )
    return True, checked


def _checked_temperature(temperature: Any) -> float:
    """A temperature by which logits can be divided: by none other is every choice legal.

    Raises:
        TypeError: it is no number.
        ValueError: it is out of range.
    """
    if not isinstance(temperature, float | int | np.number) or isinstance(temperature, bool):
        raise TypeError(f"temperature must be a number, not {brief(repr(temperature))}")
    if not 0 < temperature <= MOST_TEMPERATURE:  # no NaN is
        limits = f"above 0 and at most {MOST_TEMPERATURE:g}"
        raise ValueError(f"temperature must be {limits}, not {temperature}")
    return float(temperature)
