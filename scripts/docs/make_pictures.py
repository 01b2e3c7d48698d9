"""Draw the pictures of the README and of the two-minute rules.

    python scripts/docs/make_pictures.py

The README's pictures show games between shipped policies. These games are the same each time. The
pictures of the rules show games whose actions are listed below, because the pages describe these
games. The animation needs the extra `render`.
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
    """A position to draw, after some actions of the policy `player`, which plays all seats."""

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


WIDTH = 448  # width of the animation in pixels
EVERY, SECONDS = 3, 0.4  # the animation shows every third position for 0.4 seconds


class Lesson(NamedTuple):
    """A picture for the two-minute rules: the position after `actions`, as `seat` sees it.

    If `seat` is None, the picture shows the whole position. The file is `name`.svg.
    """

    name: str
    game: str
    options: dict[str, Any]
    seed: int
    actions: str
    seat: int | None


_ARMADORA = (  # seat 0 wins by 23 gold to 17
    "W2 g2, W2 h3, W1 b4, W1 g3, W2 g4, W2 c4, W1 b5, W1 e2, P c4-c5, P e2-f2",
    "P b5-c5, P b2-b3, W1 d5, P d5-e5, P g2-h2, W5 d4, W5 f4, P h2-h3, P f1-g1, P f2-g2, P d4-e4, "
    "P b4-c4, P g2-g3, W3 h1, W4 g1, W1 a3, P a3-a4, P a4-b4, W4 a5, P g3-g4, P a2-a3, W1 c3, "
    "P b2-c2, P b1-c1, W1 a1, P f2-f3, P e1-e2, W1 e1, W1 e5, P e4-e5, P e3-e4, P f4-f5, P g5-h5, "
    "W1 f1, W3 b1, W1 a2, P b3-b4, P h3-h4, P c3-c4, P d1-d2, P d3-d4, P b1-b2, P c1-d1, P e3-f3, "
    "P f4-g4, stop, W1 h5, W1 h4, W1 f5, W1 c1, W1 f3, W1 c2, P c2-d2, P d2-e2, W1 d2, pass, "
    "W1 b3, W1 d3, pass",
)
_SPREAD = "count 1, count 1, count 2, count 5, count 2, count 1"  # bands; the last territory gets 6
_ARMADA = (
    *(f"ship {lair}7, ship {lair}4, {_SPREAD}" for lair in "GRBO"),
    "launch G4 s15, move G4 s15, count 5, sail s15 s16, sail s16 s20, explore C22, attack s20 C22, "
    "attack s20 C22, move s20 C22, count 3",
)
LESSONS = (
    Lesson("armadora-begun", "armadora", {}, 3, _ARMADORA[0], 0),
    Lesson("armadora-over", "armadora", {}, 3, ", ".join(_ARMADORA), None),
    Lesson("armada-explored", "armada", {"players": 4}, 1, ", ".join(_ARMADA), None),
)


def taught(lesson: Lesson) -> str:
    """Play the actions of a lesson, and return the picture of the last position."""
    game = make_game(lesson.game, **lesson.options)
    states, only = game.new_states(lesson.seed), np.zeros(1, np.int64)
    for action in lesson.actions.split(", "):
        game.apply(states, only, np.array([game.actions.id(action)]))
    return game.draw_svg(states[0], lesson.seat, names=NAMES[: game.players])


def played(subject: Subject, actions: int) -> Iterator[Picture]:
    """Play at most a number of actions, and yield the picture of each position."""
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
    """Write pictures as an animation that repeats."""
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
    for lesson in LESSONS:
        (IMAGES / f"{lesson.name}.svg").write_text(taught(lesson) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
