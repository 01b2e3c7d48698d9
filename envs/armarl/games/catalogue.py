"""The games that there are: ours, and those that users register. Nothing is imported for it.

An entry says of a game what can be known without compiling it; whatever lists games reads it here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import product
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from armarl.common.messages import brief

if TYPE_CHECKING:
    from armarl.games.game_module import GameModule

ENTRY_POINTS = "armarl.games"  # the group in which installed packages name their entries


@dataclass(frozen=True)
class GameEntry:
    """What is known of a game before it is imported.

    Attributes:
        name: by which `make_game` knows it: a Python identifier in small letters.
        module: the package that holds it, a `GameModule`.
        title: as ids have it: `Armadora` for `armarl/Armadora-v0`.
        summary: the game in a sentence.
        players: the numbers of players that it is for, the default first.
        switches: options that are on or off and may be named in an id.
        others: variants with other options that have an id, by their name in it.
        notation: how a person at a terminal writes actions, in a sentence.
    """

    name: str
    module: str
    title: str
    summary: str
    players: tuple[int, ...]
    switches: tuple[str, ...] = ()
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notation: str = "? lists the actions."

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name != self.name.lower():
            raise ValueError(f"a game's name is an identifier in small letters, not {self.name!r}")
        if not self.title.isidentifier():
            raise ValueError(f"a game's title is one word of letters, not {self.title!r}")
        if not self.players or not all(number >= 1 for number in self.players):
            raise ValueError(f"{self.name} must say how many players it is for")

    def load(self) -> GameModule:
        """The game's package, imported."""
        return cast("GameModule", import_module(self.module))

    def part(self, name: str) -> ModuleType | None:
        """A module of the game's package that a game need not have, imported; None if it has none.

        There may be `rivals`, `styles` (see `players`) and `chance` (see `arena.records`).
        """
        if find_spec(f"{self.module}.{name}") is None:
            return None
        return import_module(f"{self.module}.{name}")

    def variants(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every choice of switches and players with its name, `advanced-3p`; then the others."""
        for choice in product((False, True), repeat=len(self.switches)):
            on = [switch for switch, chosen in zip(self.switches, choice, strict=True) if chosen]
            for players in self.players:
                name = "-".join([*on, f"{players}p"])
                yield name, {"players": players, **dict.fromkeys(on, True)}
        for name, options in self.others.items():
            yield name, dict(options)


OURS = (
    GameEntry(
        name="armadora",
        module="armarl.games.armadora",
        title="Armadora",
        summary="walls, hidden Warriors and majorities",
        players=(2, 3, 4),
        switches=("advanced",),
        others={"mini": {"board": "mini"}},
        notation="Squares are columns a to h and rows 1 to 5: `W3 c4`, `P c3-d3`; ? lists actions.",
    ),
    GameEntry(
        name="armada",
        module="armarl.games.armada",
        title="Armada",
        summary="pirates, ships, dice and cards",
        players=(2, 3, 4),
        switches=("cards", "enrolment"),
        notation="Places have the names of the chart; ? lists actions.",
    ),
)

_entries = {entry.name: entry for entry in OURS}
_looked_for_installed = False
_broken: list[str] = []  # entry points that could not be taken, and why


def game_names() -> tuple[str, ...]:
    """The names of all games, ours first."""
    _find_installed()
    return tuple(_entries)


def game_entry(name: str) -> GameEntry:
    """The entry of a game.

    Raises:
        ValueError: there is no game of this name.
    """
    if name not in _entries:
        _find_installed()
    if name not in _entries:
        lost = "".join(f"; {told}" for told in _broken)
        raise ValueError(f"unknown game {name!r}; there is {', '.join(_entries)}{lost}")
    return _entries[name]


def entries() -> tuple[GameEntry, ...]:
    """The entries of all games, ours first."""
    _find_installed()
    return tuple(_entries.values())


def add(entry: GameEntry) -> None:
    """Add a game; the same entry again changes nothing.

    Raises:
        TypeError: it is no entry.
        ValueError: another game has that name or title.
    """
    if not isinstance(entry, GameEntry):
        raise TypeError(f"a game is added by its GameEntry, not {brief(repr(entry))}")
    if any(entry.title == other.title for other in _entries.values() if other.name != entry.name):
        raise ValueError(f"there is another game with the title {entry.title!r} already")
    if _entries.setdefault(entry.name, entry) != entry:
        raise ValueError(f"there is another game named {entry.name!r} already")


on_installed: Callable[[GameEntry], None] = add
"""Called with each game that an installed package offers. `armarl.environments.registration`, which
lies above this module, puts its `register_game` here, so that the game gets environment ids too."""


def _find_installed() -> None:
    """Add the games that installed packages offer: `name = "package.module:ENTRY"`.

    One that cannot be taken is said, once, and is left out: the others are there all the same.
    """
    global _looked_for_installed
    if _looked_for_installed:
        return
    _looked_for_installed = True
    for point in entry_points(group=ENTRY_POINTS):
        try:
            on_installed(point.load())
        except Exception as error:  # of somebody else's module: whatever it may be
            kind = type(error).__name__
            told = f"the entry point {point.name} = {point.value} gives no game: {kind}: {error}"
            _broken.append(brief(told))
            warnings.warn(_broken[-1], stacklevel=2)
