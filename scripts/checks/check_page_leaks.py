"""Check that no byte that the pages of `armarl play --web` send depends on what a seat cannot know.

    python scripts/checks/check_page_leaks.py --games 10
    python scripts/checks/check_page_leaks.py --games 3 --variant armada-3p-cards

Everything is asked over HTTP twice at some moment of every game, for every seat and an onlooker: in
the game as it is, and in one that differs only in secrets. The exit code is 1 if an answer differs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from armarl.core.game import Game
from every_variant import check_variants  # it finds the tests' helpers
from page_leaks import compare

LONGEST = {"armadora": 60, "armada": 300, "kuhn_poker": 3}  # decisions


def check(game: Game, games: int, seed: int) -> tuple[int, int]:
    """Compare all answers in games and in others that differ in secrets alone.

    Returns:
        The number of answers, and of positions of other games.

    Raises:
        AssertionError: an answer tells a seat what it cannot know.
    """
    rng, compared, differed = np.random.default_rng(seed), 0, 0
    for number in range(seed, seed + games):
        with tempfile.TemporaryDirectory() as folder:
            decisions = int(rng.integers(1, LONGEST[game.name] + 1))
            found = compare(game, Path(folder), decisions, number)
        compared, differed = compared + found[0], differed + found[1]
    return compared, differed


if __name__ == "__main__":
    sys.exit(check_variants(__doc__, 10, "answers", check))
