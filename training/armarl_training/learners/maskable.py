"""MaskablePPO of sb3-contrib as a learner. All uses of SB3's private names are in this module.

The learner plays one seat of each game, drawn at random when the game starts, and learns only from
that seat. The current policy or a player of the pool plays the other seats. If the learner's
seat has a partner, the current policy plays the partner's seat.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from torch import nn

from armarl.core.game import Game
from armarl.core.verbs import CUT_SHORT, ENDED
from armarl.environments.seat_batch import SeatBatch
from armarl.environments.seat_loops import LEARNER
from armarl.players.protocol import Player
from armarl.policies.network_players import NetworkPlayer
from armarl_training.common.run_folder import RunError
from armarl_training.config.training_config import ConfigError, TrainingConfig
from armarl_training.learning.imitation import ImitationData
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.rates import LONGEST_GRADIENT, RECENT_GAMES, annealed, minibatches
from armarl_training.learning.rewards import Reward
from armarl_training.learning.saving import (
    Saved,
    check_alike,
    check_arrays,
    check_range,
    count_of,
    recent_returns,
    restore_optimiser,
    saved_optimiser,
    section,
)
from armarl_training.networks.layers import ACTIVATIONS, put_in_place
from armarl_training.sb3 import layers
from armarl_training.vec_env import SeatVecEnv

# Positions in the saved state of torch's generator, a uint8 array: the count of unused numbers in
# its table, and the index of the next one. The table has 624 numbers.
_LEFT, _NEXT, _WORDS = slice(8, 12), slice(16, 24), 624
LATEST = 0  # number of the current policy as a player; the player in pool slot k has number k + 1


class PoolBatch(SeatBatch):
    """Games in which a player of the pool, or the current policy, is drawn for each other side."""

    def __init__(self, game: Game, pool: OpponentPool, size: int, seed: int, reward: str) -> None:
        self.pool, self._reward = pool, Reward(game, reward)
        self.latest: Player
        super().__init__(game, size, [], self._reward.compiled, seat=None)
        self.rng = np.random.default_rng(seed)

    def answer(self, actions: NDArray[np.int64]) -> None:
        super().answer(actions)
        over = np.flatnonzero((self.ends == ENDED) | (self.ends == CUT_SHORT))
        if self._reward.is_own and over.size:
            returns = self._reward.returns(self.game.taken(self.states, over))
            self.rewards[over] = returns[np.arange(over.size), self.seats[over]]

    def refresh(self, latest: Player) -> None:
        """Set the players: the current policy, then the players now in the pool."""
        self.seat_players([latest, *self.pool.players])

    def lineups_of(self, games: NDArray[np.int64]) -> NDArray[np.int64]:
        # The sides of the seats, clockwise. Seen from any seat, they follow in the same pattern.
        sides = np.array(self.game.sides)
        number = int(sides.max()) + 1
        held = np.full((games.size, number), LATEST)
        # LEARNER is -1, so adding 1 turns it into LATEST, and a slot into the player's number.
        held[:, 1:] = self.pool.draw(self.rng, games.size, number) + 1
        return held[:, (sides[1:] - sides[0]) % number]


class SelfPlayVecEnv(SeatVecEnv):
    """Games against a pool, with the learner's recent returns against each opponent."""

    def __init__(self, game: Game, pool: OpponentPool, size: int, seed: int, reward: str) -> None:
        self.games = PoolBatch(game, pool, size, seed, reward)
        super().__init__(self.games)
        self.recent: dict[str, deque[float]] = {}
        self.seed(seed)

    def _account(self, i: int, reward: float, final: NDArray[np.float32]) -> dict[str, Any]:
        for number in set(self.batch.lineups[i].tolist()) - {LEARNER}:
            name = self.batch.players[number].name
            self.recent.setdefault(name, deque(maxlen=RECENT_GAMES)).append(reward)
        return super()._account(i, reward, final)


class MaskablePPOLearner:
    """A learner that uses MaskablePPO in one seat of every game; see `learner.Learner`."""

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool) -> None:
        rollout = config.environments * config.ppo.rollout_length
        if rollout % config.ppo.minibatch:
            raise ConfigError(
                f"maskable_ppo needs environments x ppo.rollout_length, which is {rollout}, to be "
                f"a multiple of ppo.minibatch, which is {config.ppo.minibatch}"
            )
        self._config, self._game = config, game
        self.env = SelfPlayVecEnv(game, pool, config.environments, config.seed, config.reward)
        self.model = _make_model(config, self.env)
        self.model.set_logger(Logger(folder=None, output_formats=[]))
        self.model.ep_info_buffer, self.model.ep_success_buffer = deque(maxlen=1), deque(maxlen=1)
        self._callback = _NoCallback()
        self._callback.init_callback(self.model)

    @property
    def decisions(self) -> int:
        """Total number of decisions of the learning seat."""
        return int(self.model.num_timesteps)

    def iterate(self, done: float) -> dict[str, float]:
        """Play one rollout and learn from it, as `MaskablePPO.learn` does."""
        model, ppo = self.model, self._config.ppo
        self.env.games.refresh(self.policy(average=False))
        if model._last_obs is None:
            model._last_obs = self.env.reset()
            model._last_episode_starts = np.ones(self.env.num_envs, bool)
        model._current_progress_remaining = 1 - done
        model.ent_coef = annealed(ppo.entropy, ppo.final_entropy, done)
        try:
            model.collect_rollouts(
                self.env, self._callback, model.rollout_buffer, model.n_steps, use_masking=True
            )
            model.train()
        except ValueError as error:
            if "constraint" in str(error):  # torch's distributions refuse NaN
                raise RunError(
                    "the training has diverged: logits are not finite. A lower learning rate may "
                    "help in a new run"
                ) from error
            raise
        return {
            name.removeprefix("train/"): float(value)
            for name, value in model.logger.name_to_value.items()
            if isinstance(value, int | float | np.number)
        }

    def imitate(self, data: ImitationData, rate: float) -> float:
        """Learn from a teacher's choices and the results of the games, in one pass."""
        policy, settings = self.model.policy, self._config.imitation
        optimiser = policy.optimizer
        for group in optimiser.param_groups:
            group["lr"] = rate
        policy.set_training_mode(True)
        order, right = self.env.games.rng.permutation(data.seats.size), 0
        for batch in np.array_split(order, minibatches(order.size, settings.minibatch)):
            states, seats = (
                self._game.taken(data.states, batch),
                data.seats[batch],
            )
            observations, masks = self._game.views(states, seats)
            actions = torch.from_numpy(data.actions[batch])
            returns = torch.from_numpy(data.returns[batch, seats])
            features = policy.extract_features(torch.from_numpy(observations))
            hidden, value_hidden = policy.mlp_extractor(features)
            logits = policy.action_net(hidden).masked_fill(torch.from_numpy(masks == 0), -1e9)
            values = policy.value_net(value_hidden)[:, 0]
            loss = nn.functional.cross_entropy(logits, actions)
            loss = loss + 0.5 * nn.functional.mse_loss(values, returns)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(policy.parameters(), LONGEST_GRADIENT)
            optimiser.step()
            right += int((logits.argmax(dim=1) == actions).sum())
        policy.set_training_mode(False)
        return right / order.size

    def recent(self) -> dict[str, float]:
        """Return the mean return of the latest games against each opponent."""
        return {name: float(np.mean(last)) for name, last in sorted(self.env.recent.items())}

    def in_play(self) -> NDArray[np.int64]:
        """See `learner.Learner`."""
        return (self.env.games.lineups - 1).reshape(-1)

    def policy(self, *, average: bool) -> NetworkPlayer:
        """Return a copy of the policy. This learner does not average weights."""
        tensors = {name: w.detach().numpy().copy() for name, w in self._parameters()}
        activation = self._config.network.activation
        return NetworkPlayer(self._game, tensors, activation, name="latest", sample=True)

    def begin_with(self, policy: NetworkPlayer) -> None:
        """Load the weights of a saved policy with separate policy and value networks."""
        check_alike(policy, self._config)
        put_in_place(dict(self._parameters()), policy.tensors)

    def _parameters(self) -> Iterator[tuple[str, torch.Tensor]]:
        return layers(self.model.policy)

    # --- checkpoints -----------------------------------------------------------------------------

    def _games(self) -> dict[str, NDArray[Any]]:
        games = self.env.games
        starts = self.model._last_episode_starts
        return {
            "states": games.states.view(np.uint8).reshape(games.size, -1),
            "seats": games.seats,
            "lineups": games.lineups,
            "chance": games.chance,
            "lengths": self.env.lengths,
            "episode_starts": np.ones(games.size, np.uint8)
            if starts is None
            else np.asarray(starts, np.uint8),
        }

    def save(self) -> Saved:
        """Return weights, optimiser, games and all random state, including SB3's global state."""
        policy = self.model.policy
        tensors = {f"networks/{name}": t.numpy() for name, t in policy.state_dict().items()}
        tensors |= saved_optimiser(policy.optimizer)
        kind, keys, *numpy_rest = np.random.get_state()
        tensors |= {f"games/{name}": array for name, array in self._games().items()}
        tensors |= {
            "chance/torch": torch.get_rng_state().numpy(),
            "chance/numpy": np.asarray(keys),
        }
        return tensors, {
            "decisions": self.decisions,
            "updates": self.model._n_updates,
            "begun": self.model._last_obs is not None,
            "games_chance": self.env.games.rng.bit_generator.state,
            "numpy_chance": [kind, *numpy_rest],
            "recent": {name: list(returns) for name, returns in self.env.recent.items()},
        }

    def restore(self, tensors: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Restore the state that `save` returned."""
        model, env = self.model, self.env
        networks, games = section(tensors, "networks"), section(tensors, "games")
        weights = {name: weight.numpy() for name, weight in model.policy.state_dict().items()}
        check_arrays(networks, weights, "the network's")
        check_arrays(games, self._games(), "the games'")
        own = {name: torch.from_numpy(array.copy()) for name, array in networks.items()}
        model.policy.load_state_dict(own)
        restore_optimiser(model.policy.optimizer, tensors)
        model.num_timesteps = count_of(values["decisions"])
        model._n_updates = count_of(values["updates"])
        if values["begun"]:
            states = np.ascontiguousarray(games["states"]).view(self._game.blank.dtype)
            states = states.reshape(-1)
            self._game.check_states(states)
            check_range(games["seats"], 0, self._game.players - 1, "the games' seats")
            most = len(env.games.pool.players)  # 0 is the current policy; 1 to `most` are the pool
            check_range(games["lineups"], LEARNER, most, "the games' lineups")
            # If no lineup had a learner, the batch would start new games forever to find one.
            check_range(games["lineups"][:, 0], LEARNER, LEARNER, "the lineups' learners")
            env.games.restore(states, games["seats"], games["lineups"], games["chance"])
            env.lengths = games["lengths"].copy()
            model._last_obs = env.observe()
            model._last_episode_starts = games["episode_starts"].astype(bool)
        env.recent = recent_returns(values["recent"])
        env.games.rng.bit_generator.state = values["games_chance"]
        kind, place, *numpy_rest = values["numpy_chance"]
        if not 0 <= count_of(place) <= tensors["chance/numpy"].size:  # NumPy does not check this
            raise ValueError(
                f"the position in NumPy's generator is out of range: {place}, of "
                f"{tensors['chance/numpy'].size} words"
            )
        np.random.set_state((kind, tensors["chance/numpy"], place, *numpy_rest))
        torch.set_rng_state(torch.from_numpy(_generator(tensors["chance/torch"])))


def _generator(saved: NDArray[Any]) -> NDArray[np.uint8]:
    """Return a checked copy of a saved state of torch's generator. torch does not check the state.

    Raises:
        ValueError: the array is not a state, or its position would make torch read beyond the
            table's end.
    """
    check_arrays({"torch": saved}, {"torch": torch.get_rng_state().numpy()}, "the random state of")
    state = np.ascontiguousarray(saved)
    left, place = int(state[_LEFT].view(np.int32)[0]), int(state[_NEXT].view(np.uint64)[0])
    if left < 1 or left + place > _WORDS + 1:  # with 1 left, torch first refills the table
        raise ValueError(
            f"the position in torch's generator is out of range: {place}, with {left} of {_WORDS} "
            "numbers left"
        )
    return state.copy()


class _NoCallback(BaseCallback):
    """An empty callback, because SB3 needs one. The run does the usual work of callbacks."""

    def _on_step(self) -> bool:
        return True


def _make_model(config: TrainingConfig, env: SelfPlayVecEnv) -> MaskablePPO:
    ppo = config.ppo
    widths = list(config.network.widths)

    def learning_rate(remaining: float) -> float:
        return annealed(ppo.final_learning_rate, ppo.learning_rate, remaining)

    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=learning_rate,
        n_steps=ppo.rollout_length,
        batch_size=ppo.minibatch,
        n_epochs=ppo.epochs,
        gamma=1.0,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.entropy,
        vf_coef=ppo.value_coefficient,
        max_grad_norm=ppo.max_gradient_norm,
        seed=config.seed,
        device="cpu",
        policy_kwargs={
            "net_arch": {"pi": widths, "vf": widths},
            "activation_fn": ACTIVATIONS[config.network.activation],
        },
    )
