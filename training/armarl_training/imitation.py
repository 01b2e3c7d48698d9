"""A head start: before it plays itself, the network learns to imitate a scripted player.

The teacher's choice is the lesson at every position; sometimes a random action is played instead,
so that the network also meets positions that the teacher would not get into. The value network
learns from how the games end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from armarl.game import Game
from armarl.players import Player, RandomPlayer
from armarl_training.config import ImitationConfig


@dataclass(frozen=True)
class Lessons:
    """Positions of whole games: float32 (n, size), int8 (n, actions), int64 (n,), float32 (n,)."""

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]


def imitate(
    game: Game,
    policy: Any,
    teacher: Player,
    config: ImitationConfig,
    reward: str,
    seed: int,
    progress: Callable[[int, int, float], None] | None = None,
) -> None:
    """Train an SB3 maskable actor-critic `policy` in place.

    Args:
        progress: called with (games played, games in all, part of the choices guessed right).
    """
    rng = np.random.default_rng([seed, 2])
    optimiser = torch.optim.Adam(policy.parameters())
    for played in range(0, config.games, config.games_at_once):
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * (1 - 0.9 * played / config.games)
        games = min(config.games_at_once, config.games - played)
        lessons = play_lessons(game, teacher, games, config.exploration, reward, rng)
        right = _learn(policy, optimiser, lessons, config.minibatch, rng)
        if progress:
            progress(played + games, config.games, right)


def play_lessons(
    game: Game,
    teacher: Player,
    games: int,
    exploration: float,
    reward: str,
    rng: np.random.Generator,
) -> Lessons:
    """Play games to their end, and note the teacher's choice at every position."""
    chance_player = RandomPlayer(game)
    states = game.new_states(rng.integers(1 << 62, size=games))
    seen: list[tuple[NDArray[Any], ...]] = []
    while True:
        statuses, seats = game.statuses(states)
        running = np.flatnonzero(statuses == 0)
        if running.size == 0:
            break
        movers = seats[running]
        shown = game.concealed(game.taken(states, running), movers)
        observations, masks = game.views(shown, movers)
        lesson = teacher.choose(shown, movers, rng.random(running.size))
        played = lesson.copy()
        astray = np.flatnonzero(rng.random(running.size) < exploration)
        if astray.size:
            away = game.taken(shown, astray)
            played[astray] = chance_player.choose(away, movers[astray], rng.random(astray.size))
        game.apply(states, running, played)
        seen.append((observations, masks, lesson, running, movers))
    returns = game.returns(states, np.arange(games), reward)
    observations, masks, lesson, played_in, movers = map(np.concatenate, zip(*seen, strict=True))
    outcome = returns[played_in, movers].astype(np.float32)
    return Lessons(observations, masks, lesson, outcome)


def _learn(
    policy: Any,
    optimiser: torch.optim.Optimizer,
    lessons: Lessons,
    minibatch: int,
    rng: np.random.Generator,
) -> float:
    """One pass over the lessons; returns the part of the choices that were guessed right."""
    policy.set_training_mode(True)
    order = rng.permutation(len(lessons.actions))
    right = 0
    for first in range(0, len(order), minibatch):
        batch = order[first : first + minibatch]
        observations = torch.from_numpy(lessons.observations[batch])
        actions = torch.from_numpy(lessons.actions[batch])
        returns = torch.from_numpy(lessons.returns[batch])
        features = policy.extract_features(observations)
        hidden, value_hidden = policy.mlp_extractor(features)
        logits = policy.action_net(hidden)
        logits = logits.masked_fill(torch.from_numpy(lessons.masks[batch]) == 0, -1e9)
        values = policy.value_net(value_hidden)[:, 0]
        loss = torch.nn.functional.cross_entropy(logits, actions)
        loss = loss + 0.5 * torch.nn.functional.mse_loss(values, returns)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimiser.step()
        right += int((logits.argmax(dim=1) == actions).sum())
    policy.set_training_mode(False)
    return right / len(order)
