"""Self-play as an SB3 VecEnv: in each game one seat learns, and opponents hold the others.

The learner sees only its own decisions: between two of them the opponents play, and its reward is
its own seat's return, whoever ended the game. That is what makes the loser's reward arrive. Seats
and opponents are drawn anew for every game; the seats of one opposing side share an opponent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from armarl.game import Game
from armarl.players import Player, choose_legally

LEARNER = -1  # in place of a pool slot
LATEST = 0  # the pool's first slot: the policy as it is now, which also plays the partner's seat
_RECENT_GAMES = 500


class OpponentPool:
    """The players that may hold the other seats, each with the weight of being drawn."""

    def __init__(self) -> None:
        self.players: list[Player] = []
        self.weights: list[float] = []

    def set(self, players: Sequence[Player], weights: Sequence[float]) -> None:
        """Replace the pool. Running games keep their slots, so a slot keeps its meaning.

        Raises:
            ValueError: the pool would shrink, or nobody could be drawn.
        """
        if len(players) < len(self.players) or sum(weights) <= 0:
            raise ValueError("a pool keeps its slots, and needs a player with a weight above 0")
        self.players, self.weights = list(players), list(weights)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Slots of players, drawn by weight."""
        weights = np.array(self.weights) / sum(self.weights)
        return rng.choice(len(weights), size=shape, p=weights)


class SelfPlayVecEnv(VecEnv):
    """`size` games at once. Observation: flat float32; actions: Discrete, with `action_masks`.

    An illegal action ends the game with -1 for the learner, as in every face.
    """

    render_mode = None  # SB3 warns of environments without it

    def __init__(self, game: Game, pool: OpponentPool, size: int, seed: int, reward: str) -> None:
        low, high = game.observation.bounds()
        self.game = game
        self.pool = pool
        self.rng = np.random.default_rng(seed)
        self.states = np.full(size, game.blank)
        self.seats = np.zeros(size, np.int64)  # the learner's, in each game
        self.opponents = np.zeros((size, game.players), np.int64)  # slot of the pool, by seat
        self.lengths = np.zeros(size, np.int64)  # the learner's decisions so far
        self.recent: dict[str, deque[float]] = {}  # the learner's returns, by opponent
        self._reward = game.reward_kind(reward)
        self._observations = np.empty((size, game.observation.size), np.float32)
        self._masks = np.empty((size, len(game.actions)), np.int8)
        self._actions: NDArray[np.int64] = np.zeros(size, np.int64)
        super().__init__(
            size,
            gymnasium.spaces.Box(low, high, dtype=np.float32),
            gymnasium.spaces.Discrete(len(game.actions)),
        )

    # --- VecEnv ----------------------------------------------------------------------------------

    def reset(self) -> NDArray[np.float32]:
        self._start(np.arange(self.num_envs))
        self._play_opponents()
        return self.observe()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        everywhere = np.arange(self.num_envs)
        illegal = self._masks[everywhere, self._actions] == 0
        played = everywhere[~illegal]
        self.game.loops.apply_batch(self.states, played, self._actions[played])
        self.lengths += 1
        self._play_opponents()

        statuses = self.game.statuses(self.states)[0]
        ended = (statuses != 0) | illegal
        over = np.flatnonzero(ended)
        rewards = np.zeros(self.num_envs, np.float32)
        infos: list[dict[str, Any]] = [{}] * self.num_envs
        if over.size:
            rewards[over] = self._returns(over, illegal[over])
            final = self.game.views(self.game.taken(self.states, over), self.seats[over])[0]
            for k, i in enumerate(over):
                cut_short = bool(statuses[i] == 2)
                infos[i] = self._end(int(i), float(rewards[i]), final[k], cut_short)
            self._start(over)
            self._play_opponents()
        return self.observe(), rewards, ended, infos

    def action_masks(self) -> NDArray[np.int8]:
        """Masks of the learner's decisions, int8 (size, actions)."""
        return self._masks

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> Sequence[Any]:
        """MaskablePPO asks for `action_masks`; one array answers for all games."""
        if method_name != "action_masks":
            raise AttributeError(f"the batch has no per-game method {method_name!r}")
        return self._masks if indices is None else self._masks[self._get_indices(indices)]  # type: ignore[return-value]

    def has_attr(self, attr_name: str) -> bool:
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError("the games of a batch have no attributes of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))

    def close(self) -> None:
        pass

    # --- games -----------------------------------------------------------------------------------

    def observe(self) -> NDArray[np.float32]:
        """The learner's observation of every game, (size, features); the masks are kept."""
        self.game.loops.view_batch(self.states, self.seats, self._observations, self._masks)
        return self._observations.copy()

    def note(self, opponent: str, returns: Sequence[float]) -> None:
        """Add to the recent returns against an opponent."""
        self.recent.setdefault(opponent, deque(maxlen=_RECENT_GAMES)).extend(returns)

    def _start(self, games: NDArray[np.int64]) -> None:
        """Deal new games, and draw the learner's seats and the opponents."""
        seeds = self.rng.integers(1 << 62, size=games.size)
        self.game.loops.deal_batch(self.states, games, seeds)
        self.seats[games] = self.rng.integers(self.game.players, size=games.size)
        sides = np.array(self.game.sides)
        by_side = self.pool.draw(self.rng, (games.size, sides.max() + 1))
        by_side[np.arange(games.size), sides[self.seats[games]]] = LATEST
        self.opponents[games] = by_side[:, sides]
        self.opponents[games, self.seats[games]] = LEARNER
        self.lengths[games] = 0

    def _play_opponents(self) -> None:
        """Let the opponents play until every game has ended or waits for the learner."""
        everywhere = np.arange(self.num_envs)
        while True:
            statuses, seats = self.game.statuses(self.states)
            movers = np.where(statuses == 0, self.opponents[everywhere, seats], LEARNER)
            waiting = np.flatnonzero(movers != LEARNER)
            if waiting.size == 0:
                return
            for slot in np.unique(movers[waiting]):
                games = waiting[movers[waiting] == slot]
                seen = self.game.concealed(self.game.taken(self.states, games), seats[games])
                draws = self.rng.random(games.size)
                opponent = self.pool.players[slot]
                actions = choose_legally(opponent, self.game, seen, seats[games], draws)
                self.game.loops.apply_batch(self.states, games, actions)

    def _returns(self, games: NDArray[np.int64], illegal: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The learner's returns in ended games."""
        returns = np.empty((games.size, self.game.players))
        self.game.loops.returns_batch(self.states, games, self._reward, returns)
        own: NDArray[np.float64] = returns[np.arange(games.size), self.seats[games]]
        return np.where(illegal, -1.0, own)

    def _end(
        self, i: int, reward: float, final: NDArray[np.float32], cut_short: bool
    ) -> dict[str, Any]:
        """SB3's account of an ended game; also noted by opponent."""
        for slot in set(self.opponents[i]) - {LEARNER}:
            self.note(self.pool.players[slot].name, [reward])
        return {
            "terminal_observation": final,
            "TimeLimit.truncated": cut_short,
            "episode": {"r": reward, "l": int(self.lengths[i]), "t": 0.0},
        }
