"""The three dice of Armada, read from `dice.toml` and checked (ADA-7)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FACES = 6
MOST = 12  # on a face: what is found is doubled twice at most, and stays below the supply of 50
STANDARD = Path(__file__).with_name("dice.toml")


class DiceError(ValueError):
    """Dice that break ADA-7; the message says which and what is wrong."""


@dataclass(frozen=True)
class Dice:
    """The dice, six faces each.

    Attributes:
        combat: +hits, defenders that fall, or -losses, attackers that fall: never both.
        gold: gold found, at least 0.
        tribes: tribes found or bands raised, at least 0.
    """

    combat: tuple[int, ...]
    gold: tuple[int, ...]
    tribes: tuple[int, ...]


@cache
def load_dice(path: str | Path = STANDARD) -> Dice:
    """Read and check dice.

    Raises:
        DiceError: the file is no TOML, or its dice break ADA-7.
        OSError: there is no such file.
    """
    try:
        dice = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DiceError(f"{path} is no TOML: {error}") from error
    if set(dice) != {"combat", "gold", "tribes"}:
        raise DiceError(f"{path}: the dice are combat, gold and tribes, not {', '.join(dice)}")
    return Dice(
        combat=_faces("combat", dice["combat"], -MOST),
        gold=_faces("gold", dice["gold"], 0),
        tribes=_faces("tribes", dice["tribes"], 0),
    )


def _faces(die: str, faces: object, least: int) -> tuple[int, ...]:
    if not isinstance(faces, list) or len(faces) != FACES:
        raise DiceError(f"the {die} die must list {FACES} faces (ADA-7), not {faces!r}")
    for face in faces:
        if type(face) is not int or not least <= face <= MOST:
            raise DiceError(f"the {die} die: a face is a number {least} to {MOST}, not {face!r}")
    return tuple(faces)
