"""The three dice of Armada as data: the standard dice, or your own dice (ADA-7)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from armarl.common.files import read_text
from armarl.common.json_text import read_json
from armarl.common.messages import brief
from armarl.common.numbers import is_whole
from armarl.games.armada.chart.checks import shortened

DIE_NAMES = ("combat", "gold", "tribes")
SIDES = 6  # sides of each die
MOST = 12  # highest face: a find is doubled at most twice, so it stays below the supply of 50
MAX_BYTES = 2**12  # maximum length of a text, because parsing TOML may take quadratic time
STANDARD = Path(__file__).with_name("dice.toml")

_FORMS = (
    "dice must be the path of a TOML file, its text, a mapping of combat, gold and tribes to "
    f"{SIDES} faces each, the mapping as JSON text, or None for the standard dice"
)


class DiceError(ValueError):
    """Raised for dice that break ADA-7 or cannot be read. The message says what is wrong."""


@dataclass(frozen=True)
class Dice:
    """The dice, six faces each.

    Attributes:
        combat: positive for hits (defenders lost), negative for losses (attackers lost), -12 to 12.
            A face never has both.
        gold: gold found, 0 to 12.
        tribes: tribes found or bands raised, 0 to 12.

    Raises:
        DiceError: a die does not have six faces, or a face is out of range.

    Example:
        >>> from armarl.games.armada.dice import Dice
        >>> Dice([1, 1, 2, 2, -1, -2], gold=[1] * 6, tribes=[0, 1, 2, 2, 3, 4]).combat
        (1, 1, 2, 2, -1, -2)
    """

    combat: tuple[int, ...]
    gold: tuple[int, ...]
    tribes: tuple[int, ...]

    def __post_init__(self) -> None:
        for die in DIE_NAMES:
            object.__setattr__(self, die, _checked(die, getattr(self, die)))

    @property
    def faces(self) -> tuple[tuple[int, ...], ...]:
        """The faces of all dice, in the order of DIE_NAMES."""
        return self.combat, self.gold, self.tribes

    def as_dict(self) -> dict[str, list[int]]:
        """Return the dice as plain JSON types. `load_dice` reads them back."""
        return {die: list(faces) for die, faces in asdict(self).items()}


def _checked(die: str, faces: Any) -> tuple[int, ...]:
    """Return the faces of a die as a tuple of ints.

    Raises:
        DiceError: the number of faces is not SIDES, or a face is out of range.
    """
    listed = isinstance(faces, list | tuple) or (isinstance(faces, np.ndarray) and faces.ndim == 1)
    found = list(faces) if listed else None  # a copy that cannot change
    if found is None or len(found) != SIDES:
        said = brief(shortened(faces)) if found is None else len(found)
        raise DiceError(f"the {die} die must list {SIDES} faces (ADA-7), not {said}")
    least, signs = 0, ""
    if die == "combat":
        least, signs = -MOST, " (hits above 0, losses below 0, never both on one face)"
    # Plain ints, because a subclass of int may behave differently.
    numbers = [int(face) if is_whole(face) else None for face in found]
    for face, number in zip(found, numbers, strict=True):
        if number is None or not least <= number <= MOST:
            raise DiceError(
                f"the {die} die: a face must be a whole number from {least} to {MOST}{signs}, "
                f"not {shortened(face)}"
            )
    return tuple(number for number in numbers if number is not None)


def load_dice(source: str | Path | Mapping[str, Any] | Dice | None = None) -> Dice:
    """Read and check the dice.

    Args:
        source: None for the standard dice, the path of a TOML file with the lists `combat`, `gold`
            and `tribes`, its text (a string of several lines), a mapping of these lists (or tuples
            or arrays), the same as JSON text, or `Dice`.

    Raises:
        DiceError: the dice break ADA-7 or cannot be read. The message says what is wrong and what
            would be right.
        OSError: the file does not exist or cannot be read.

    Example:
        >>> from armarl.games.armada.dice import load_dice
        >>> load_dice().combat
        (1, 1, 1, 2, -1, -1)
        >>> load_dice({**load_dice().as_dict(), "gold": [1, 1, 1, 2, 2, 2]}).gold
        (1, 1, 1, 2, 2, 2)
    """
    if source is None:
        return _standard()
    if isinstance(source, Dice):
        return Dice(*source.faces)  # checked again, because a subclass may have any faces
    if isinstance(source, Mapping):
        return _of_mapping(dict(source))
    if isinstance(source, str):
        if not source.strip():
            raise DiceError(f"the option dice is empty text; {_FORMS}")
        if source.lstrip().startswith("{"):
            return _of_json(source)
        if "\n" in source:
            return _of_text(source)
    if not isinstance(source, str | Path):
        raise DiceError(f"{_FORMS}; not {shortened(source)}")
    try:
        return _of_text(read_text(Path(source), MAX_BYTES))
    except OSError as error:
        raise type(error)(f"{brief(error)}; {_FORMS}") from error
    except ValueError as error:  # DiceError is a subclass of ValueError
        raise DiceError(f"{brief(source)}: {error}") from error


@cache
def _standard() -> Dice:
    return load_dice(STANDARD)


def _of_text(text: str) -> Dice:
    """Read the text of a TOML file."""
    _check_length(text)
    try:
        dice = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not TOML, or thousands of digits or brackets
        raise DiceError(f"the dice are not valid TOML: {brief(error)}") from error
    return _of_mapping(dice)


def _of_json(text: str) -> Dice:
    """Read JSON text in the form of `Dice.as_dict`."""
    _check_length(text)
    try:
        dice = read_json(text)
    except ValueError as error:
        raise DiceError(f"the dice are not valid JSON: {brief(error)}") from error
    return _of_mapping(dice)


def _check_length(text: str) -> None:
    if len(text) > MAX_BYTES:
        raise DiceError(
            f"the text of dice may have at most {MAX_BYTES:,} characters, not {len(text):,}"
        )


def _of_mapping(dice: dict[str, Any]) -> Dice:
    if set(dice) != set(DIE_NAMES):
        raise DiceError(f"the dice must be combat, gold and tribes, not {shortened(list(dice))}")
    return Dice(**dice)
