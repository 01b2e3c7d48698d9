"""Golden games: one recorded game of each variant, in `tests/games/golden`.

A file contains the seed, the deal, every action, the result and, after each action, a hash of each
seat's observation and mask. The test replays the actions and compares every line. It therefore
notices any change of the rules, the actions, the observation or the random deal. If the change is
intended, raise the game's `VERSION` and write the files again:

    python tests/games/test_golden.py --write
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from armarl.compiler.types import States
from armarl.core.batch_loops import WAS_ILLEGAL, play_one
from armarl.core.game import Game
from armarl.players.simple_players import GreedyPlayer, RandomPlayer
from variants import GOLDEN, Variant, every_golden_variant

FOLDER = Path(__file__).parent / "golden"
SEED = 20_000
CANDIDATES = 80  # number of games to choose from
ASTRAY = 0.3  # share of the greedy player's decisions that are random


def path_of(variant: Variant) -> Path:
    return FOLDER / f"{variant}.txt"


def seen(game: Game, states: States) -> str:
    """Hash the observation and mask of each seat."""
    hashes = []
    for seat in range(game.players):
        observations, masks = game.views(states, np.array([seat]))
        digest = hashlib.sha256(observations.tobytes() + masks.tobytes())
        hashes.append(digest.hexdigest()[:12])
    return " ".join(hashes)


def record(game: Game, seed: int, choose: Callable[[States], int]) -> str:
    """Return a game as text. `choose` chooses an action for the seat to move."""
    states = game.new_states(seed)
    lines = [
        f"variant {json.dumps(game.variant)}",
        f"seed {seed}",
        f"deal {json.dumps(game.describe(states[0]))}",
        f"start | {seen(game, states)}",
    ]
    mask, rewards = np.empty(len(game.actions), np.int8), np.empty(game.players)
    code = int(game.statuses(states)[1][0])
    while code >= 0:
        seat, action = code, choose(states)
        code = game.compiled(play_one)(states, 0, action, mask, rewards, 0, game.fixed_records)
        text = game.actions.text(action)
        assert code != WAS_ILLEGAL, f"{text!r} is now illegal for seat {seat}"
        lines.append(f"{seat} {text} | {seen(game, states)}")
    lines.append(f"end {json.dumps(game.describe(states[0]))}")
    lines.append(f"rewards {rewards.tolist()}")
    return "\n".join(lines) + "\n"


def actions_of(text: str) -> list[str]:
    """Return the actions of a recorded game."""
    moves = [line for line in text.splitlines() if line[0].isdigit()]
    return [line.split(" | ")[0].split(" ", 1)[1] for line in moves]


@every_golden_variant
def test_golden_game(variant):
    game, recorded = variant.make(), path_of(variant).read_text(encoding="utf-8")
    actions = iter(actions_of(recorded))
    replayed = record(game, SEED, lambda _: game.actions.id(next(actions)))
    assert replayed.splitlines() == recorded.splitlines()
    assert next(actions, None) is None


def test_there_is_a_golden_game_of_each_variant():
    assert set(FOLDER.glob("*.txt")) == {path_of(variant) for variant in GOLDEN}


def test_golden_games_contain_every_kind_of_action():
    for name in {variant.game for variant in GOLDEN}:
        variants = [variant for variant in GOLDEN if variant.game == name]
        offered = {kind(text) for variant in variants for text in variant.make().actions.texts}
        texts = [path_of(variant).read_text(encoding="utf-8") for variant in variants]
        played = {kind(action) for text in texts for action in actions_of(text)}
        assert played >= offered, f"never played: {sorted(offered - played)}"


def kind(action: str) -> str:
    """Return the first word of an action's notation."""
    return action.split()[0]


def half_greedy(game: Game, rng: np.random.Generator) -> Callable[[States], int]:
    """Return a function that chooses like a greedy player that often plays at random."""
    players = GreedyPlayer(game), RandomPlayer(game)

    def choose(states: States) -> int:
        seats = game.statuses(states)[1]
        player = players[int(rng.random() < ASTRAY)]
        return int(player.choose(game.concealed(states, seats), seats, rng.random(1))[0])

    return choose


def write() -> None:
    """Record the golden games again. Prefer new kinds of actions, then many kinds of actions."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    # The kinds of actions in the files so far, by game.
    shown: dict[str, set[str]] = defaultdict(set)
    for variant in GOLDEN:
        game = variant.make()
        games = [
            record(game, SEED, half_greedy(game, np.random.default_rng(number)))
            for number in range(CANDIDATES)
        ]
        kinds = [set(map(kind, actions_of(text))) for text in games]
        ranks = [
            (len(found - shown[variant.game]), len(found), len(text))
            for found, text in zip(kinds, games, strict=True)
        ]
        best = ranks.index(max(ranks))
        text = games[best]
        shown[variant.game] |= kinds[best]
        path_of(variant).write_text(text, encoding="utf-8", newline="\n")
        print(path_of(variant))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/games/test_golden.py --write")
    write()
