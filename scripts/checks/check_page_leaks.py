"""Check that the responses of the `armarl play --web` server do not depend on hidden information.

    python scripts/checks/check_page_leaks.py --games 10
    python scripts/checks/check_page_leaks.py --games 3 --variant armada-3p-cards

At a random moment of each game, the script requests everything over HTTP, for every seat and for an
onlooker. It repeats the requests in a game that differs only in hidden information. The exit code
is 1 if a response differs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from armarl.core.game import Game
from every_variant import check_variants  # also adds the tests' helpers to the import path
from page_leaks import compare

LONGEST = {"armadora": 60, "armada": 300, "kuhn_poker": 3}  # maximum number of decisions


def check(game: Game, games: int, seed: int) -> tuple[int, int]:
    """Compare the server's responses for random games and for games with other hidden information.

    The other games differ from the random games only in hidden information.

    Returns:
        The number of responses, and the number of positions whose hidden information differed.

    Raises:
        AssertionError: a response shows hidden information to a seat.
    """
    rng, compared, differed = np.random.default_rng(seed), 0, 0
    for number in range(seed, seed + games):
        with tempfile.TemporaryDirectory() as folder:
            decisions = int(rng.integers(1, LONGEST[game.name] + 1))
            found = compare(game, Path(folder), decisions, number)
        compared, differed = compared + found[0], differed + found[1]
    return compared, differed


if __name__ == "__main__":
    sys.exit(check_variants(__doc__, 10, "responses", check))
