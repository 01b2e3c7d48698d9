"""Games in lockstep whose decisions are learned from, and what a rollout of them leaves.

The learner holds all seats of most games; in the others it holds one side, and a player of the pool
the rest. Who holds what is drawn anew for every game, at its start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.advice import Advice
from armarl.game import Game
from armarl.seat_loops import LEARNER
from armarl.self_play_batch import SelfPlayBatch, Turn
from armarl.verbs import PLAYING
from armarl_training.looks import LookAhead, Outlook
from armarl_training.opponents import OpponentPool
from armarl_training.quantities import Quantities, draw_actions
from armarl_training.saving import check_arrays, check_range, recent_returns

# From quantities (n, size) and advice (n, advisers) to logits, float32 (n, at least actions).
Logits = Callable[[NDArray[Any], NDArray[np.int64]], NDArray[np.float32]]


class Rollout(NamedTuple):
    """`steps` decisions of each of `games` games, in the order in which they were taken.

    Attributes:
        quantities: (steps + 1, games, size), what the seat to move saw; the last row is not
            answered yet.
        secrets: (steps + 1, games, secrets), what the others alone knew then.
        masks: uint8 (steps, games, bytes), the legal actions as bits.
        advice: int64 (steps, games, advisers), the actions that the advisers would take.
        movers: int64 (steps + 1, games), the seats to move.
        actions: int64 (steps, games, 1 + looks), the action played, and others that the learner
            could have played, drawn like it.
        chances: float32 (steps, games, 1 + looks), their log-probabilities; the learner's alone.
        worths: float32 (steps, games, looks), what the critic says that the mover would expect
            after those others; the learner's alone.
        learners: bool (steps, games), whether the decision was the learner's.
        rewards: float32 (steps, games, players), the returns at the end of a game.
        ends: int8 (steps, games), not PLAYING where the decision ended its game.
    """

    quantities: NDArray[Any]
    secrets: NDArray[Any]
    masks: NDArray[np.uint8]
    advice: NDArray[np.int64]
    movers: NDArray[np.int64]
    actions: NDArray[np.int64]
    chances: NDArray[np.float32]
    worths: NDArray[np.float32]
    learners: NDArray[np.bool_]
    rewards: NDArray[np.float32]
    ends: NDArray[np.int8]


class SelfPlay:
    """The games in play, who sits in them, and their chance.

    Attributes:
        batch: the games.
        kept: how what is seen is kept.
        lineups: int64 (games, players), the pool's slot of the player in each seat, or LEARNER.
        rng: of actions and of lineups.
        recent: by opponent, the learner's last returns against it.
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
    ) -> None:
        """Deal the games.

        Args:
            steps: decisions of each game in a rollout.
            reward: one of the game's.
            seed: of all chance.
            looks: other actions of each decision to be judged.
            advisers: scripted players to be asked at each decision.
        """
        self.game, self.pool = game, pool
        self.batch = SelfPlayBatch(game, games, reward=reward)
        self.kept = Quantities(game)
        self._ahead = LookAhead(game, self.kept, reward)
        self._advice = Advice(game, advisers)
        self._reached = np.empty(len(game.actions))
        self.rng = np.random.default_rng(seed)
        self.recent: dict[str, deque[float]] = {}
        self._turn: Turn = self.batch.reset(seed=_deals(self.rng, games))
        self.lineups = pool.lineups(self.rng, games)
        self._rollout = Rollout(
            quantities=np.empty((steps + 1, games, game.observation.size), self.kept.dtype),
            secrets=np.empty((steps + 1, games, self.kept.secrets), self.kept.dtype),
            masks=np.empty((steps, games, -(-len(game.actions) // 8)), np.uint8),
            advice=np.empty((steps, games, len(advisers)), np.int64),
            movers=np.empty((steps + 1, games), np.int64),
            actions=np.empty((steps, games, 1 + looks), np.int64),
            chances=np.zeros((steps, games, 1 + looks), np.float32),
            worths=np.zeros((steps, games, looks), np.float32),
            learners=np.empty((steps, games), np.bool_),
            rewards=np.empty((steps, games, game.players), np.float32),
            ends=np.empty((steps, games), np.int8),
        )

    def play(
        self, logits: Logits, outlook: Outlook, *, early: str | None = None, weight: float = 0.0
    ) -> Rollout:
        """Play on, the learner's seats by `logits`. The next call writes into the same arrays.

        Args:
            outlook: judges what would follow other actions.
            early: name of another reward of the game, which counts with `weight` in [0, 1], and the
                batch's own with the rest.
        """
        rollout, turn = self._rollout, self._turn
        steps = len(rollout.actions)
        for t in range(steps):
            self._see(t)
            self._decide(t, logits)
            self._look_ahead(t, outlook)
            self.batch.step(rollout.actions[t, :, 0], out=turn)
            rollout.rewards[t], rollout.ends[t] = turn.rewards, turn.ends
            over = np.flatnonzero(turn.ends != PLAYING)
            if over.size:
                if early and weight > 0:
                    others = self.game.returns(self.batch.final_states, over, early)
                    own = rollout.rewards[t, over]
                    rollout.rewards[t, over] = (1 - weight) * own + weight * others
                self.pool.note(self.recent, self.lineups[over], turn.rewards[over])
                self.lineups[over] = self.pool.lineups(self.rng, over.size)
        self._see(steps)
        return rollout

    def _see(self, t: int) -> None:
        """Note what the seat to move sees, and what the others alone know."""
        rollout, turn = self._rollout, self._turn
        rollout.movers[t] = turn.seats
        self.kept.keep(turn.observations, rollout.quantities[t])
        self.kept.keep_secrets(self.batch.states, turn.seats, rollout.secrets[t])

    def _decide(self, t: int, logits: Logits) -> None:
        """Draw the learner's actions, and ask the players who hold other seats for theirs."""
        rollout, turn = self._rollout, self._turn
        rollout.masks[t] = np.packbits(turn.masks.view(np.bool_), axis=1)
        held = self.lineups[np.arange(self.batch.size), turn.seats]
        rollout.learners[t] = held == LEARNER
        draws = self.rng.random(rollout.actions[t].shape)
        rollout.advice[t] = self._advice.actions(self.batch.states, turn.seats)
        found = logits(rollout.quantities[t], rollout.advice[t])
        draw_actions(
            found, turn.masks, draws, self._reached, rollout.actions[t], rollout.chances[t]
        )
        for slot in np.unique(held[held != LEARNER]):
            games = np.flatnonzero(held == slot)
            seats = turn.seats[games]
            seen = self.game.concealed(self.game.taken(self.batch.states, games), seats)
            chosen = self.pool.players[slot].choose(seen, seats, draws[games, 0].copy())
            rollout.actions[t, games, 0] = chosen

    def _look_ahead(self, t: int, outlook: Outlook) -> None:
        """Have the critic judge what would follow the learner's other actions."""
        rollout, games = self._rollout, np.flatnonzero(self._rollout.learners[t])
        if rollout.worths.shape[2] == 0 or games.size == 0:
            return
        states, others = self.game.taken(self.batch.states, games), rollout.actions[t, games, 1:]
        movers = rollout.movers[t, games]
        rollout.worths[t, games] = self._ahead.worths(states, movers, others, outlook)

    def save(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The games in play, who sits in them, and their chance."""
        states = self.batch.states
        arrays: dict[str, NDArray[Any]] = {
            "states": states.view(np.uint8).reshape(states.size, -1),
            "lineups": self.lineups,
        }
        recent = {name: list(returns) for name, returns in self.recent.items()}
        return arrays, {"chance": self.rng.bit_generator.state, "recent": recent}

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """The games as they were when they were saved.

        Raises:
            ValueError: it was saved with other numbers of games, or is damaged.
        """
        check_arrays(arrays, self.save()[0], "the games'")
        states = np.ascontiguousarray(arrays["states"]).view(self.game.blank.dtype).reshape(-1)
        check_range(arrays["lineups"], LEARNER, len(self.pool.players) - 1, "the games' lineups")
        self._turn = self.batch.load_states(states)
        self.lineups[:] = arrays["lineups"]
        self.rng.bit_generator.state = values["chance"]
        self.recent = recent_returns(values["recent"])


def _deals(rng: np.random.Generator, games: int) -> list[int]:
    return [int(number) for number in rng.integers(1 << 62, size=games)]
