"""A PPO loop in one file with action masks, after CleanRL's `ppo.py`, for one seat or all seats.

The loop is a copy of CleanRL's code, so only torch is needed. It uses Gymnasium's vector
environments with `autoreset_mode="SAME_STEP"`, so every entry of the buffer is a decision. With all
seats, the successor of a decision is the *same seat's* next decision, and its reward is the sum of
the rewards in between.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.distributions import Categorical

import armarl
from armarl.core.verbs import ILLEGAL
from armarl_training.examples.measured import GAME, Learning, main

ENVS, STEPS, EPOCHS, MINIBATCH = 64, 64, 4, 512
LEARNING_RATE, LAMBDA, CLIP, ENTROPY = 1e-3, 0.95, 0.2, 0.01


class Agent(nn.Module):
    """Policy and value networks for the flat observation."""

    def __init__(self, size: int, actions: int) -> None:
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, actions)
        )
        self.critic = nn.Sequential(
            nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1)
        )
        nn.init.normal_(self.actor[-1].weight, std=0.01)

    def distribution(self, observations: torch.Tensor, masks: torch.Tensor) -> Categorical:
        """Return the policy. Illegal actions get probability 0."""
        logits = self.actor(observations)
        return Categorical(logits=logits.masked_fill(masks == 0, -1e9))

    def value(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the expected return of the seat."""
        value: torch.Tensor = self.critic(observations)[:, 0]
        return value


class Rows:
    """A rollout's decisions in order, with their advantages."""

    def __init__(self, size: int, actions: int) -> None:
        shape = (STEPS, ENVS)
        self.observations = torch.zeros((*shape, size))
        self.masks = torch.zeros((*shape, actions), dtype=torch.int8)
        self.actions = torch.zeros(shape, dtype=torch.int64)
        self.logprobs, self.values = torch.zeros(shape), torch.zeros(shape)
        self.advantages = torch.zeros(shape)
        self.known = torch.zeros(shape, dtype=torch.bool)  # decisions with a computed advantage

    def decide(self, step: int, agent: Agent, observations: Any, masks: Any) -> NDArray[np.int64]:
        """Sample an action in every game, and store these decisions."""
        self.observations[step] = torch.from_numpy(observations)
        self.masks[step] = torch.from_numpy(masks)
        with torch.no_grad():
            policy = agent.distribution(self.observations[step], self.masks[step])
            self.actions[step] = policy.sample()
            self.logprobs[step] = policy.log_prob(self.actions[step])
            self.values[step] = agent.value(self.observations[step])
        return self.actions[step].numpy()


def update(agent: Agent, optimiser: torch.optim.Optimizer, rows: Rows) -> None:
    """Train on the decisions that have an advantage: EPOCHS epochs of CleanRL's gradient steps."""
    kept = rows.known.reshape(-1)
    observations, masks, actions, logprobs, advantages, values = (
        column.reshape(kept.numel(), *column.shape[2:])[kept]
        for column in (
            rows.observations,
            rows.masks,
            rows.actions,
            rows.logprobs,
            rows.advantages,
            rows.values,
        )
    )
    returns = advantages + values
    for _ in range(EPOCHS):
        for batch in torch.randperm(actions.numel()).split(MINIBATCH):
            policy = agent.distribution(observations[batch], masks[batch])
            ratio = (policy.log_prob(actions[batch]) - logprobs[batch]).exp()
            gains = advantages[batch]
            gains = (gains - gains.mean()) / (gains.std() + 1e-8)
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            loss = -torch.min(ratio * gains, clipped * gains).mean()
            loss = loss - ENTROPY * policy.entropy().mean()
            loss = loss + 0.5 * (agent.value(observations[batch]) - returns[batch]).square().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimiser.step()


def one_seat(decisions: int, seed: int) -> Learning:
    """Train on Gymnasium's vector environment, in one seat against the random player."""
    envs = gymnasium.make_vec("armarl/Armadora-v0", ENVS, autoreset_mode="SAME_STEP")
    game = envs.unwrapped.game
    agent, optimiser = _agent(game, seed)

    def train() -> tuple[int, int]:
        taken = 0
        observations, info = envs.reset(seed=seed)
        while taken < decisions:
            rows = Rows(game.observation.size, len(game.actions))
            rewards, ends = torch.zeros(STEPS, ENVS), torch.zeros(STEPS, ENVS)
            for step in range(STEPS):
                actions = rows.decide(step, agent, observations, info["action_mask"])
                observations, gained, terminated, truncated, info = envs.step(actions)
                rewards[step] = torch.from_numpy(gained)
                ends[step] = torch.from_numpy(terminated | truncated)
            with torch.no_grad():
                following = agent.value(torch.from_numpy(observations))
            advantage = torch.zeros(ENVS)
            for step in reversed(range(STEPS)):
                going = 1 - ends[step]
                surprise = rewards[step] + going * following - rows.values[step]
                advantage = surprise + LAMBDA * going * advantage
                rows.advantages[step], following = advantage, rows.values[step]
            rows.known[:] = True
            update(agent, optimiser, rows)
            taken += STEPS * ENVS
        return taken, envs.unwrapped.endings.illegal

    return Learning(_choose(agent), train)


def all_seats(decisions: int, seed: int) -> Learning:
    """Train one learner in all seats of a `SelfPlayBatch`, which plays many games in lockstep."""
    batch = armarl.SelfPlayBatch(GAME, ENVS)
    game = batch.game
    agent, optimiser = _agent(game, seed)

    def train() -> tuple[int, int]:
        taken, illegal = 0, 0
        turn = batch.reset(seed=seed)
        games = np.arange(ENVS)
        while taken < decisions:
            rows = Rows(game.observation.size, len(game.actions))
            movers = np.zeros((STEPS, ENVS), np.int64)
            rewards, ends = np.zeros((STEPS, ENVS, game.players)), np.zeros((STEPS, ENVS), bool)
            for step in range(STEPS):
                movers[step] = turn.seats
                turn = batch.step(rows.decide(step, agent, turn.observations, turn.masks))
                rewards[step], ends[step] = turn.rewards, turn.ends != 0
                illegal += int((turn.ends == ILLEGAL).sum())
            # Go backwards. For every seat of every game, keep the value and the advantage of the
            # seat's next decision, and its rewards before that decision. `known` is False if the
            # rollout ends before that decision and before the end of the game.
            value, advantage = np.zeros((ENVS, game.players)), np.zeros((ENVS, game.players))
            known, gained = np.zeros((ENVS, game.players), bool), np.zeros((ENVS, game.players))
            own = rows.values.numpy()
            for step in reversed(range(STEPS)):
                over, seat = ends[step], movers[step]
                value[over], advantage[over], gained[over] = 0, 0, rewards[step][over]
                known[over] = True
                at = games, seat
                surprise = gained[at] + value[at] - own[step]
                reckoned = np.where(known[at], surprise + LAMBDA * advantage[at], 0.0)
                rows.advantages[step] = torch.from_numpy(reckoned)
                rows.known[step] = torch.from_numpy(known[at])
                value[at], advantage[at], gained[at], known[at] = own[step], reckoned, 0, True
            update(agent, optimiser, rows)
            taken += STEPS * ENVS
        return taken, illegal

    return Learning(_choose(agent), train)


def _agent(game: Any, seed: int) -> tuple[Agent, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    agent = Agent(game.observation.size, len(game.actions))
    return agent, torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)


def _choose(agent: Agent) -> Any:
    def choose(observations: Any, masks: Any) -> Any:
        with torch.no_grad():
            policy = agent.distribution(torch.from_numpy(observations), torch.from_numpy(masks))
        return policy.logits.argmax(dim=1).numpy()

    return choose


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("torch", {"one-seat": one_seat, "all-seats": all_seats})
