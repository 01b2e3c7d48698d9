"""The three dice of Armada, read from `dice.toml` and checked (ADA-7)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FACES = 6
MOST = 12  # highest face: a find is doubled at most twice, so it stays below the supply of 50
STANDARD = Path(__file__).with_name("dice.toml")


class DiceError(ValueError):
    """Raised for dice that break ADA-7. The message names the die and the fault."""


@dataclass(frozen=True)
class Dice:
    """The dice, six faces each.

    Attributes:
        combat: positive for hits (defenders lost), negative for losses (attackers lost). A face
            never has both.
        gold: gold found, at least 0.
        tribes: tribes found or bands raised, at least 0.
    """

    combat: tuple[int, ...]
    gold: tuple[int, ...]
    tribes: tuple[int, ...]


@cache
def load_dice(path: str | Path = STANDARD) -> Dice:
    """Read and check the dice.

    Args:
        path: TOML file with the lists `combat`, `gold` and `tribes`.

    Raises:
        DiceError: the file is not valid TOML, or its dice break ADA-7.
        OSError: the file does not exist or cannot be read.

    Example:
        >>> from armarl.games.armada.dice import load_dice
        >>> load_dice().combat
        (1, 1, 1, 2, -1, -1)
    """
    try:
        dice = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DiceError(f"{path} is not valid TOML: {error}") from error
    if set(dice) != {"combat", "gold", "tribes"}:
        raise DiceError(f"{path}: the dice must be combat, gold and tribes, not {', '.join(dice)}")
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
            raise DiceError(
                f"the {die} die: a face must be a whole number from {least} to {MOST}, not {face!r}"
            )
    return tuple(faces)
