"""The games that PPO learns from, played in lockstep, and the data of a rollout.

The learner plays all seats of most games. In the other games it plays one side, and players of the
pool play the other sides. The lineup of every game is drawn at its start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.batch_loops import own
from armarl.core.game import Game
from armarl.core.verbs import PLAYING, verbs
from armarl.environments.seat_loops import LEARNER
from armarl.environments.self_play_batch import SelfPlayBatch, Turn
from armarl.players.advice import Advice
from armarl_training.learners.ppo.rollout.action_lookahead import CriticValues, LookAhead
from armarl_training.learners.ppo.rollout.cuda_rival_seats import CudaRivals, LogitsOf
from armarl_training.learners.ppo.rollout.random_openings import Openings
from armarl_training.learners.ppo.rollout.rival_seats import HostRivals, Position, Rivals
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.rewards import Reward
from armarl_training.learning.saving import check_arrays, check_range, recent_returns
from armarl_training.networks.integer_observations import Draws, IntegerObservations, draw
from armarl_training.networks.learner_devices import Array, LearnerDevice, OnCpu, OnGpu
from armarl_training.networks.softmax import make_softmax_scratch

# Maps features (games, size), advice (games, advisers), secrets (games, secrets), masks as bits
# (games, bytes) and the seats to move (games,) to logits of at least the legal actions, float32
# (games, actions or more), and to the values of all seats, see `CriticValues`. It is called on the
# positions in the order in which the games reach them.
Act = Callable[[Array, Array, Array, Array, Array], tuple[Array, Array]]


class Rollout(NamedTuple):
    """`steps` decisions in each of `games` games, in the order in which they were taken.

    On a GPU the arrays are torch tensors.

    Attributes:
        features: (steps + 1, games, size), the features that the seat to move saw. No action has
            been chosen for the last row yet.
        secrets: (steps + 1, games, secrets), the features that only the other seats knew then.
        masks: uint8 (steps, games, bytes), the legal actions as bits.
        advice: int64 (steps, games, advisers), the actions that the advisers would take.
        movers: int64 (steps + 1, games), the seats to move.
        actions: int64 (steps, games, 1 + looks), the played action, then the lookahead actions,
            which are drawn in the same way.
        log_probs: float32 (steps, games, 1 + looks), the log-probabilities of these actions; valid
            only where the learner decided.
        values: float32 (steps + 1, games, players), the critic's values of all seats, in [-1, 1],
            the mover's first.
        lookahead_values: float32 (steps, games, looks), the critic's values for the mover after the
            lookahead actions; valid only where the learner decided.
        learners: bool (steps + 1, games), whether the learner decides.
        rewards: float32 (steps, games, players), the returns at the end of a game.
        ends: int8 (steps, games), a value other than PLAYING where the decision ended its game.
    """

    features: Array
    secrets: Array
    masks: Array
    advice: Array
    movers: Array
    actions: Array
    log_probs: Array
    values: Array
    lookahead_values: Array
    learners: Array
    rewards: Array
    ends: Array


class EarlyRewards(NamedTuple):
    """Games that may have ended, and a second reward to mix in."""

    ends: NDArray[np.int8]  # (games,)
    finals: States  # (games,), final states
    kind: int  # the second reward: an index into `Game.rewards`
    weight: float  # weight of the second reward, in [0, 1]
    returns: NDArray[np.float64]  # (2 * threads, players) scratch
    rewards: NDArray[np.float32]  # (games, players) updated; their own weight is 1 - `weight`


def mix_early_rewards(batch: EarlyRewards, i: int, thread: int) -> None:
    """If game `i` has ended, mix its two rewards by their weights."""
    if batch.ends[i] == PLAYING:
        return
    returns, rest = batch.returns[own(thread)], np.float32(1.0 - batch.weight)
    verbs.returns(batch.finals[i], batch.kind, returns)
    for seat in range(returns.size):
        kept = rest * batch.rewards[i, seat]
        batch.rewards[i, seat] = kept + batch.weight * returns[seat]


class SelfPlay:
    """The running games, their lineups (the player in each seat), and their random state.

    Attributes:
        batch: the games.
        kept: converter of observations to stored features.
        rivals: the opponents in the seats that the learner does not play.
        rng: random number generator for actions and lineups.
    """

    def __init__(
        self,
        game: Game,
        pool: OpponentPool,
        games: int,
        steps: int,
        reward: str,
        seed: Sequence[int],
        *,
        looks: int = 0,
        advisers: Sequence[str] = (),
        openings: tuple[float, int] = (0.0, 1),
        device: LearnerDevice | None = None,
        logits_of: LogitsOf | None = None,
    ) -> None:
        """Start the games.

        Args:
            steps: number of decisions in each game of a rollout.
            reward: name of one of the game's rewards, or of a function (see `rewards`). A function
                works only on the CPU and with `looks=0`.
            seed: seed of all randomness.
            looks: number of lookahead actions for each decision.
            advisers: scripted players that give advice at each decision.
            openings: share of games that begin with random actions, and the maximum number of these
                actions in a game.
            device: device that plays the games. None: the CPU.
            logits_of: function that returns the network of an earlier version of the policy, on a
                GPU. Not used on the CPU, where earlier versions are players.

        Raises:
            ConfigError: a player in the pool cannot play on the device.
        """
        self._device = device = device or OnCpu(game)
        self.game, self.pool = game, pool
        self._reward = Reward(game, reward)
        self.batch = SelfPlayBatch(game, games, reward=self._reward.compiled, device=device.name)
        self.kept = IntegerObservations(game, device)
        self._ahead = LookAhead(game, self.kept, self._reward.compiled)
        advice = Advice(game, advisers)
        rows = device.scratch_rows(games)
        self._reached = device.interleaved((rows, len(game.actions)), np.float64)
        self._scratch = make_softmax_scratch(device, games, len(game.actions))
        self._returns = device.interleaved((rows, game.players), np.float64)
        self._spare = device.interleaved((rows, game.observation.size), np.float32)
        self.rng = np.random.default_rng(seed)
        self._turn: Turn = self.batch.reset(seed=_deals(self.rng, games))
        self.rivals: Rivals
        if isinstance(device, OnGpu):
            assert logits_of is not None
            self.rivals = CudaRivals(device, pool, self.rng, games, advice, logits_of, self._drawn)
        else:
            self.rivals = HostRivals(game, pool, self.rng, games, advice)
        share, longest = openings
        self._openings = None
        if share > 0:
            self._openings = Openings(device, self.rng, games, share=share, longest=longest)
        zeros, size, players = device.zeros, game.observation.size, game.players
        self._rollout = Rollout(
            features=zeros((steps + 1, games, size), self.kept.dtype),
            secrets=zeros((steps + 1, games, self.kept.secrets), self.kept.dtype),
            masks=zeros((steps, games, -(-len(game.actions) // 8)), np.uint8),
            advice=zeros((steps, games, len(advisers)), np.int64),
            movers=zeros((steps + 1, games), np.int64),
            actions=zeros((steps, games, 1 + looks), np.int64),
            log_probs=zeros((steps, games, 1 + looks), np.float32),
            values=zeros((steps + 1, games, players), np.float32),
            lookahead_values=zeros((steps, games, looks), np.float32),
            learners=zeros((steps + 1, games), np.bool_),
            rewards=zeros((steps, games, players), np.float32),
            ends=zeros((steps, games), np.int8),
        )

    @property
    def lineups(self) -> Array:
        """The pool's slot of the player in each seat, or LEARNER: int64 (games, players)."""
        return self.rivals.lineups

    def play(
        self,
        act: Act,
        critic_values: CriticValues,
        *,
        early: str | None = None,
        weight: float = 0.0,
    ) -> Rollout:
        """Play a rollout, with `act` in the learner's seats. The next call overwrites the arrays.

        Args:
            critic_values: evaluates the positions after lookahead actions, and the last positions.
            early: name of a second reward of the game. It has the given `weight` in [0, 1], and the
                batch's own reward has the weight 1 - `weight`.
        """
        rollout, turn = self._rollout, self._turn
        steps = len(rollout.actions)
        self.rivals.begin()
        for t in range(steps):
            self._see(t)
            self._decide(t, act)
            self._look_ahead(t, critic_values)
            self.batch.step(rollout.actions[t, :, 0], out=turn)
            if self._reward.is_own:
                over = np.flatnonzero(turn.ends != PLAYING)
                turn.rewards[over] = self._reward.returns(
                    self.game.taken(self.batch.final_states, over)
                )
            rollout.rewards[t], rollout.ends[t] = turn.rewards, turn.ends
            if early and weight > 0:
                self._weigh_early(t, early, weight)
            self.rivals.note_ends(turn)
            if self._openings is not None:
                self._openings.note_ends(turn)
        self._see(steps)
        rollout.learners[steps] = self._held() == LEARNER
        rollout.values[steps] = critic_values(rollout.features[steps], rollout.secrets[steps])
        self.rivals.end()
        return rollout

    def _see(self, t: int) -> None:
        """Store the features that the seat to move sees, and those that only other seats know."""
        rollout, turn = self._rollout, self._turn
        rollout.movers[t] = turn.seats
        self.kept.keep(turn.observations, rollout.features[t])
        secrets, states = rollout.secrets[t], self.batch.states
        self.kept.keep_secrets(states, turn.seats, secrets, self._spare)

    def _held(self) -> Array:
        """Return the pool's slot of the player to move, or LEARNER: int64 (games,)."""
        return self._device.along(self.lineups, self._turn.seats[:, None], axis=1)[:, 0]

    def _decide(self, t: int, act: Act) -> None:
        """Draw the learner's actions, and get those of the opponents."""
        rollout, turn, device = self._rollout, self._turn, self._device
        rollout.masks[t] = device.bits(turn.masks)
        held = self._held()
        rollout.learners[t] = held == LEARNER
        draws = device.random(self.rng, rollout.actions[t].shape)
        rollout.advice[t] = self.rivals.advised(self.batch, turn, held, draws[:, 0])
        features, advice, masks = rollout.features[t], rollout.advice[t], rollout.masks[t]
        secrets, actions = rollout.secrets[t], rollout.actions[t]
        logits, rollout.values[t] = act(features, advice, secrets, masks, rollout.movers[t])
        self._draw(logits, masks, draws, actions, rollout.log_probs[t])
        position = Position(
            batch=self.batch,
            turn=turn,
            held=held,
            draws=draws[:, 0],
            features=features,
            advice=advice,
            actions=actions,
        )
        self.rivals.answer(position)
        if self._openings is not None:
            rollout.learners[t] &= ~self._openings.under_way()
            self._openings.play(turn, draws[:, 0], actions[:, 0])

    def _draw(
        self, logits: Array, masks: Array, draws: Array, actions: Array, log_probs: Array
    ) -> None:
        """Draw actions from logits, and write their log-probabilities. The masks are bits."""
        batch = Draws(logits, masks, draws, self._reached, self._scratch, actions, log_probs)
        self._device.run(draw, len(masks), batch)

    def _drawn(self, logits: Array, masks: Array, draws: Array) -> Array:
        """Draw one action for each row."""
        actions = self._device.zeros((len(masks), 1), np.int64)
        log_probs = self._device.zeros((len(masks), 1), np.float32)
        self._draw(logits, self._device.bits(masks), draws[:, None], actions, log_probs)
        return actions[:, 0]

    def _look_ahead(self, t: int, critic_values: CriticValues) -> None:
        """Let the critic evaluate the positions after the learner's lookahead actions."""
        rollout = self._rollout
        if rollout.lookahead_values.shape[2] == 0:
            return
        games = self._device.needed(rollout.learners[t])
        states, movers = self._device.taken(self.batch.states, games), rollout.movers[t, games]
        others = rollout.actions[t, games, 1:]
        if len(movers):
            found = self._ahead.lookahead_values(states, movers, others, critic_values)
            rollout.lookahead_values[t, games] = found

    def _weigh_early(self, t: int, early: str, weight: float) -> None:
        """Mix a second reward with the batch's own."""
        ends, rewards = self._rollout.ends[t], self._rollout.rewards[t]
        kind, finals = self.game.reward_kind(early), self.batch.final_states
        batch = EarlyRewards(ends, finals, kind, weight, self._returns, rewards)
        self._device.run(mix_early_rewards, len(ends), batch)

    def save(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the games in play, their lineups, and their random state."""
        states = self._device.fetch(self.batch.states)
        arrays: dict[str, NDArray[Any]] = {
            "states": states.view(np.uint8).reshape(states.size, -1),
            "lineups": self._device.fetch(self.lineups),
        }
        if self._openings is not None:
            arrays["openings"] = self._device.fetch(self._openings.left)
        recent = {name: list(returns) for name, returns in self.rivals.recent.items()}
        return arrays, {"chance": self.rng.bit_generator.state, "recent": recent}

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Restore a state, which may have been saved on another device.

        Raises:
            ValueError: the state was saved with another number of games, or is damaged.
        """
        check_arrays(arrays, self.save()[0], "the games'")
        states = np.ascontiguousarray(arrays["states"]).view(self.game.blank.dtype).reshape(-1)
        check_range(arrays["lineups"], LEARNER, len(self.pool.players) - 1, "the games' lineups")
        self._turn = self.batch.load_states(states)
        self.lineups[:] = self._device.put(arrays["lineups"])
        if self._openings is not None:
            check_range(arrays["openings"], 0, self._openings.longest, "the games' openings")
            self._openings.left[:] = self._device.put(arrays["openings"])
        self.rng.bit_generator.state = values["chance"]
        self.rivals.recent = recent_returns(values["recent"])


def _deals(rng: np.random.Generator, games: int) -> list[int]:
    return [int(number) for number in rng.integers(1 << 62, size=games)]
