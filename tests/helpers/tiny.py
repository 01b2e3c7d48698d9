"""Small networks, policies and training runs, for tests that need some policy or run."""

from __future__ import annotations

import itertools
import os
import signal

import numpy as np

from armarl.policies.network_players import NetworkPlayer
from armarl.policies.saved_policy import save_policy


def tensors(game, seed=0, widths=(16,)):
    """Return random weights of a network for `game`, so large that its choices differ."""
    rng = np.random.default_rng(seed)
    found = {}
    for head, outputs in (("policy", len(game.actions)), ("value", 1)):
        sizes = [game.observation.size, *widths, outputs]
        for k, (inputs, units) in enumerate(itertools.pairwise(sizes)):
            found[f"{head}.{k}.weight"] = rng.normal(0, 1, (units, inputs)).astype(np.float32)
            found[f"{head}.{k}.bias"] = rng.normal(0, 1, units).astype(np.float32)
    return found


def network(game, seed=0, **options):
    return NetworkPlayer(game, tensors(game, seed), "tanh", **options)


def policy(folder, game, seed=0, name="policy.safetensors"):
    """Save a policy with random weights. Return its path."""
    save_policy(folder / name, game, tensors(game, seed), "tanh", strength=[])
    return folder / name


def random_actions(masks, rng):
    """Return a random legal action for each mask, or action 0 if none is legal."""
    return np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks])


def positions(game, number=50, seed=0):
    """Return states in the middle of random games, with the seats to move."""
    rng = np.random.default_rng(seed)
    states = game.new_states(rng.integers(1 << 60, size=number))
    for i in range(number):
        for _ in range(int(rng.integers(30))):
            one = states[i : i + 1]
            if game.statuses(one)[0][0]:
                break
            legal = np.flatnonzero(game.legal_masks(one)[0])
            game.apply(one, np.zeros(1, np.int64), rng.choice(legal, 1))
    statuses, seats = game.statuses(states)
    going_on = np.flatnonzero(statuses == 0)
    return game.taken(states, going_on), seats[going_on]


def settings(**changes):
    """Return the settings of a run of a few seconds. Sections are given as dictionaries."""
    small = {
        "total_decisions": 1024,
        "environments": 16,
        "threads": 1,
        "network": {"widths": [16]},
        "opponents": {"share": 0.5, "snapshot_every": 512, "pool_size": 2},
        "evaluation": {"games": 20, "workers": 1, "progress_games": 0},
    }
    learner = changes.get("learner", "ppo")
    if learner == "critic":
        small["network"]["advisers"] = ["greedy"]  # the player that the critic improves
    else:
        own = "td" if learner == "td" else "ppo"
        small[own] = {"rollout_length": 16, "minibatch": 128, "epochs": 2}
    for name, value in changes.items():
        small[name] = {**small[name], **value} if isinstance(small.get(name), dict) else value
    return small


class Backwards:
    """A player as a user may write it. It plays the `rank`-th legal action from the end."""

    def __init__(self, game, rank: int = 1):
        self.name, self.game, self.rank = "backwards", game, rank

    def choose(self, states, seats, draws):
        masks = self.game.legal_masks(states)
        return np.array([np.flatnonzero(mask)[-self.rank :][0] for mask in masks])


def stubborn(game, player, times: int):
    """Return the player unchanged. Tests register this function as a wrapper of players."""
    assert times > 0
    return player


class Faulty(Backwards):
    """A player as a user may write it. It fails after `answers` decisions."""

    answers = 0

    def choose(self, states, seats, draws):
        self.answers -= len(states)
        return super().choose(states, seats, draws) if self.answers >= 0 else {}["nowhere"]


class KilledOnce:
    """A player that kills its process once, at its first decision. Then it plays like Backwards."""

    name = "killed once"

    def __init__(self, game, folder):
        self.game, self.mark = game, folder / "killed"

    def choose(self, states, seats, draws):
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return Backwards(self.game).choose(states, seats, draws)
        os.kill(os.getpid(), signal.SIGKILL)


class Killed:
    """A player that kills its process at each decision."""

    name = "killed"

    def choose(self, states, seats, draws):
        os.kill(os.getpid(), signal.SIGKILL)
