"""Minari: record a player's games as a dataset for offline RL, with masks in the observations.

    python -m armarl_training.examples.minari armadora/greedy-v0 --player greedy --games 100

Minari stores the dataset in its own folder (`MINARI_DATASETS_PATH`), with the specification of the
environment.
"""

from __future__ import annotations

import argparse

import gymnasium
import minari
import numpy as np

from armarl.roster.make_player import make_player


def record(name: str, player: str, games: int, seed: int = 0) -> minari.MinariDataset:
    """Record a player's games against random opponents as a Minari dataset."""
    env = gymnasium.make("armarl:armarl/Armadora-v0", mask="observation")
    collector = minari.DataCollector(env)
    inside, rng = env.unwrapped, np.random.default_rng(seed)
    chooser = make_player(player, inside.game)
    for number in range(games):
        _, info = collector.reset(seed=seed + number)
        over = False
        while not over:
            seats = np.array([info["seat"]])
            seen = inside.game.concealed(inside.states, seats)  # only what the seat may know
            action = chooser.choose(seen, seats, rng.random(1))[0]
            _, _, terminated, truncated, info = collector.step(action)
            over = terminated or truncated
    return collector.create_dataset(
        name, algorithm_name=chooser.name, ref_min_score=-1.0, ref_max_score=1.0
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="name of the dataset")
    parser.add_argument("--player", default="greedy")
    parser.add_argument("--games", type=int, default=100)
    options = parser.parse_args()
    data = record(options.name, options.player, options.games)
    wins = np.mean([episode.rewards[-1] > 0 for episode in data])
    print(f"{data.total_episodes} games, {data.total_steps} decisions, won {100 * wins:.0f} %")


if __name__ == "__main__":
    main()
