"""Draw the pictures of the README from games that are played now: `make_pictures.py`.

The games are between shipped policies, and the same each time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armarl import make_game, make_player

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
NAMES = ("Ada", "Ben", "Cleo", "Dan")


class Subject(NamedTuple):
    """A position to draw: the player in all seats, the deal, and the number of actions played."""

    player: str
    game: str
    options: dict[str, Any]
    seed: int
    actions: int
    seat: int | None


SUBJECTS = (
    Subject("armadora-3p-advanced", "armadora", {"players": 3, "advanced": True}, 4, 40, 0),
    Subject("armada-3p-cards", "armada", {"players": 3, "cards": True}, 3, 180, None),
)


def drawn(subject: Subject) -> str:
    """Play the game up to the position, and return its picture."""
    game = make_game(subject.game, **subject.options)
    player, states = make_player(subject.player, game), game.new_states(subject.seed)
    chance = game.new_chance(np.array([subject.seed]))
    only, before, last = np.zeros(1, np.int64), None, None
    for _ in range(subject.actions):
        seen, seats, draws = game.questions(states, only, chance)
        actions = player.choose(seen, seats, draws)
        before, last = states[0].copy(), (int(seats[0]), int(actions[0]))
        game.apply(states, only, actions)
    names = NAMES[: game.players]
    return game.draw_svg(states[0], subject.seat, before=before, last=last, names=names)


def main() -> None:
    for subject in SUBJECTS:
        (IMAGES / f"{subject.game}.svg").write_text(drawn(subject) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
