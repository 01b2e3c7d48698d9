"""Golden games of Armadora: one recorded game of each variant, in `tests/golden/armadora`.

A file holds the seed, the deal, every action with a hash of what each seat then observes and may
do, and the result. The test replays the actions and compares every line, so any change of the
rules, the actions, the observation or the random deal shows up. If the change is meant, raise the
game's `VERSION` and write the files anew:

    python tests/test_armadora_golden.py --write
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from armarl.game import Game, States, make_game
from reference.checks import VARIANTS, random_choice, variant_name

FOLDER = Path(__file__).parent / "golden" / "armadora"
SEED = 20_000


def seen(game: Game, states: States) -> str:
    """A hash of observation and mask for each seat."""
    hashes = []
    for seat in range(game.players):
        observations, masks = game.views(states, np.array([seat]))
        digest = hashlib.sha256(observations.tobytes() + masks.tobytes())
        hashes.append(digest.hexdigest()[:12])
    return " ".join(hashes)


def record(game: Game, seed: int, choose) -> str:
    """A game as text; `choose` picks from the texts of the legal actions."""
    states = game.new_states(seed)
    view = game.describe(states[0])
    deal = {"gold": view["gold"], "characters": view["characters"]}
    lines = [
        f"variant {json.dumps(game.variant)}",
        f"seed {seed}",
        f"deal {json.dumps(deal)}",
        f"start | {seen(game, states)}",
    ]
    mask, rewards = np.empty(len(game.actions), np.int8), np.empty(game.players)
    code = 0
    while code >= 0:
        text = choose(game.actions.legal_texts(game.legal_masks(states)[0]))
        seat = game.describe(states[0])["to_move"]
        code = game.loops.play(states, 0, game.actions.id(text), mask, rewards, 0)
        assert code != -3, f"{text!r} has become illegal for seat {seat}"
        lines.append(f"{seat} {text} | {seen(game, states)}")
    lines.append(f"end {json.dumps(game.describe(states[0]))}")
    lines.append(f"rewards {rewards.tolist()}")
    return "\n".join(lines) + "\n"


def actions_of(text: str) -> list[str]:
    """The actions of a recorded game."""
    moves = [line for line in text.splitlines() if line[0].isdigit()]
    return [line.split(" | ")[0].split(" ", 1)[1] for line in moves]


@pytest.mark.parametrize("variant", VARIANTS, ids=variant_name)
def test_golden_game(variant):
    game = make_game("armadora", **variant)
    recorded = (FOLDER / f"{variant_name(variant)}.txt").read_text(encoding="utf-8")
    actions = iter(actions_of(recorded))
    replayed = record(game, SEED, lambda _: next(actions))
    assert replayed.splitlines() == recorded.splitlines()
    assert next(actions, None) is None


def test_golden_games_are_those_of_the_variants():
    names = {path.stem for path in FOLDER.glob("*.txt")}
    assert names == {variant_name(variant) for variant in VARIANTS}


def write() -> None:
    """Record the golden games anew, of long games in which every kind of action occurs."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for variant in VARIANTS:
        game = make_game("armadora", **variant)
        games = (record(game, SEED, random_choice(random.Random(number))) for number in range(60))
        text = max(games, key=lambda text: (_kinds(text), len(text)))
        path = FOLDER / f"{variant_name(variant)}.txt"
        path.write_text(text, encoding="utf-8", newline="\n")
        print(path)


def _kinds(text: str) -> int:
    return len({action.split()[0] for action in actions_of(text)})


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/test_armadora_golden.py --write")
    write()
