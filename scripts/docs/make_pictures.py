"""Draw the pictures of the README from games that are played now: `make_pictures.py`.

The games are between shipped policies, and the same each time. The moving picture needs the extra
`render`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from armarl import Picture, make_game, make_player

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


WIDTH = 448  # pixels of the moving picture
EVERY, SECONDS = 3, 0.4  # it shows every third position, each for this long


def played(subject: Subject, actions: int) -> Iterator[Picture]:
    """Play the game, and yield the picture of each position."""
    game = make_game(subject.game, **subject.options)
    player, states = make_player(subject.player, game), game.new_states(subject.seed)
    chance = game.new_chance(np.array([subject.seed]))
    only, before, last = np.zeros(1, np.int64), None, None
    names = NAMES[: game.players]
    for _ in range(actions + 1):
        yield game.picture(states[0], subject.seat, before=before, last=last, names=names)
        if game.statuses(states)[0][0]:
            return
        seen, seats, draws = game.questions(states, only, chance)
        choice = player.choose(seen, seats, draws)
        before, last = states[0].copy(), (int(seats[0]), int(choice[0]))
        game.apply(states, only, choice)


def write_moving(pictures: list[Picture], path: Path) -> None:
    """Write pictures as one moving picture, which begins again after the last."""
    frames = [Image.fromarray(picture.pixels(WIDTH)) for picture in pictures]
    times = [round(1000 * SECONDS)] * (len(frames) - 1) + [3000]
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=times, loop=0, quality=60, method=6
    )


def main() -> None:
    for subject in SUBJECTS:
        *_, last = played(subject, subject.actions)
        (IMAGES / f"{subject.game}.svg").write_text(last.svg() + "\n", encoding="utf-8")
    *_, armada = SUBJECTS
    pictures = list(played(armada, armada.actions))
    write_moving([*pictures[EVERY:-1:EVERY], pictures[-1]], IMAGES / "armada-moving.webp")


if __name__ == "__main__":
    main()
