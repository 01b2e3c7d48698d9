"""The two files of a table: the record of its game, and a JSON file with further facts."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from armarl.common.files import read_text, write_text
from armarl.common.json_text import read_json
from armarl.common.messages import brief

_MOST_ABOUT = 1 << 20  # maximum size of a table's JSON file in bytes
_NAME = re.compile(r"[0-9a-f]{10}")  # a table's name


@dataclass
class About:
    """The facts about a table that its record does not contain.

    Attributes:
        players: for each seat the specification of its player, or None for a person.
        keys: the seats of each key. A key is a secret text in a page's address. A key without seats
            belongs to onlookers.
        deal: the seed of the deal. Anyone who knows this seed can compute all hidden information.
        chance: the seed of the players' random numbers.
        undone: the number of times that an action was taken back.
        resigned: the seat that has resigned, or None.
        next: the name of the table at which the same people play again, or None.
    """

    players: list[str | None]
    keys: dict[str, list[int]]
    deal: int
    chance: int
    undone: int = 0
    resigned: int | None = None
    next: str | None = None


def read_about(folder: Path, name: str) -> About:
    """Read the facts about a table that its record does not contain.

    Raises:
        OSError, ValueError: the file cannot be read, or is not the JSON file of a table.
    """
    try:
        about = About(**read_json(read_text(folder / f"{name}.json", _MOST_ABOUT)))
        _check(about)
    except TypeError as error:
        raise ValueError(f"{name}.json is not a table's file: {brief(error)}") from error
    return about


def _check(about: About) -> None:
    """Check all values of a table's file. The name of the next table later becomes part of a path.

    Raises:
        TypeError: a value has a wrong type or is out of range.
    """

    def is_below(value: object, end: int) -> bool:
        return type(value) is int and 0 <= value < end

    seats, keys = about.players, about.keys
    if not isinstance(seats, list) or not all(one is None or isinstance(one, str) for one in seats):
        raise TypeError("players must be a list with a string or null for each seat")
    if not isinstance(keys, dict) or not all(
        isinstance(own, list) and all(is_below(seat, len(seats)) for seat in own)
        for own in keys.values()
    ):
        raise TypeError(f"keys must map each key to a list of seat numbers below {len(seats)}")
    if not all(is_below(n, 1 << 63) for n in (about.deal, about.chance, about.undone)):
        raise TypeError("deal, chance and undone must be whole numbers from 0 to 2**63 - 1")
    if about.resigned is not None and not is_below(about.resigned, len(seats)):
        raise TypeError(f"resigned must be null or a seat number below {len(seats)}")
    if about.next is not None and not _NAME.fullmatch(str(about.next)):
        raise TypeError("next must be null or a table's name of 10 hexadecimal digits")


def write_about(folder: Path, name: str, about: About) -> None:
    """Write the facts about a table that its record does not contain."""
    write_text(folder / f"{name}.json", json.dumps(asdict(about), indent=1) + "\n")


def record_path(folder: Path, name: str) -> Path:
    """Return the path of a table's record."""
    return folder / f"{name}.txt"
