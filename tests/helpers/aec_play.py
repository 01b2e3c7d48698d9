"""Helpers for tests of PettingZoo environments: play games, and collect all visible information."""

import copy

import numpy as np


def is_over(env):
    return any(env.terminations.values()) or any(env.truncations.values())


def random_action(env, rng):
    return int(rng.choice(np.flatnonzero(env.last()[0]["action_mask"])))


def play_randomly(env, rng, most=10**9):
    """Play at most `most` random legal actions, until the game ends. Return the actions."""
    played = []
    while len(played) < most and not is_over(env):
        played.append(random_action(env, rng))
        env.step(played[-1])
    return played


def some_illegal_action(env):
    return int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0])


def everything(env):
    """Return all that a user of an environment can see of it."""
    agents = env.possible_agents
    names = "agents agent_selection rewards _cumulative_rewards terminations truncations infos"
    return {
        **{name: copy.deepcopy(getattr(env, name)) for name in names.split()},
        "num_agents": env.num_agents,
        "observations": [
            {name: array.tobytes() for name, array in env.observe(agent).items()}
            for agent in agents
        ],
    }
