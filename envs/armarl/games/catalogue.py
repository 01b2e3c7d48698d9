"""The catalogue of games: the games of this package and the games that users register.

An entry describes a game without importing or compiling it. All code that lists games reads this
catalogue.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec
from itertools import chain, product
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from armarl.common.messages import brief, did_you_mean

if TYPE_CHECKING:
    from armarl.games.game_module import GameModule

ENTRY_POINTS = "armarl.games"  # the entry-point group for games of installed packages


@dataclass(frozen=True)
class GameEntry:
    """A description of a game, available before the game is imported.

    Attributes:
        name: the name for `make_game`, a Python identifier in lower case.
        module: the import name of the game's package, which is a `GameModule`.
        title: the title in environment ids: `Armadora` for `armarl/Armadora-v0`.
        summary: a short description of the game.
        players: the possible numbers of players, the default first.
        switches: the options that are on or off. Their names occur in environment ids.
        others: further variants with environment ids: a mapping from the name of the variant in the
            id to its options.
        notation: a sentence that explains the notation of actions to a person.

    Raises:
        ValueError: the name is not a lower-case identifier, the title is not an identifier, or
            `players` is empty or contains a number below 1.

    Example:
        >>> from armarl import GameEntry
        >>> entry = GameEntry("go", "my_go", "Go", "stones on a grid", (2,), switches=("handicap",))
        >>> [name for name, options in entry.variants()]
        ['2p', 'handicap-2p']
    """

    name: str
    module: str
    title: str
    summary: str
    players: tuple[int, ...]
    switches: tuple[str, ...] = ()
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notation: str = ""

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name != self.name.lower():
            raise ValueError(f"a game's name must be a lower-case identifier, not {self.name!r}")
        if not self.title.isidentifier():
            raise ValueError(f"a game's title must be an identifier, not {self.title!r}")
        if not self.players or not all(number >= 1 for number in self.players):
            raise ValueError(
                f"{self.name}: players must be one or more numbers, each at least 1, "
                f"not {self.players!r}"
            )

    def load(self) -> GameModule:
        """Import the game's package and return it.

        Raises:
            ImportError: the package does not exist, or cannot be imported.
        """
        return cast("GameModule", import_module(self.module))

    def part(self, name: str) -> ModuleType | None:
        """Return the optional module `name` of the game's package, or None if there is none.

        The optional modules are `rivals` and `styles` (see `armarl.players.simple_players`),
        `chance` (see `armarl.matches.records`) and `guide` (see `armarl.web.window`).

        Raises:
            ImportError: the package does not exist, or the module cannot be imported.
        """
        if find_spec(f"{self.module}.{name}") is None:
            return None
        return import_module(f"{self.module}.{name}")

    def page(self, name: str) -> str:
        """Return the text of the file `name` of the game's package, such as rules.md, or "".

        The result is "" if the file does not exist.

        Raises:
            ImportError: the package does not exist.
        """
        file = files(self.module).joinpath(name)
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def variants(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (name, options) for every combination of switches and players, then for `others`.

        An example of a name is `advanced-3p`.
        """
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
        notation="Squares are columns a to h and rows 1 to 5: `W3 c4`, `P c3-d3`.",
    ),
    GameEntry(
        name="armada",
        module="armarl.games.armada",
        title="Armada",
        summary="pirates, ships, dice and cards",
        players=(2, 3, 4),
        switches=("cards", "enrolment"),
        notation="Places have the names of the chart: `move G1 G2`.",
    ),
)

_entries = {entry.name: entry for entry in OURS}
_looked_for_installed = False
_broken: list[str] = []  # an error text for each entry point that could not be used


def game_names() -> tuple[str, ...]:
    """Return the names of all games, those of this package first."""
    _find_installed()
    return tuple(_entries)


def game_entry(name: str) -> GameEntry:
    """Return the entry of a game.

    Raises:
        TypeError: the name is not a string.
        ValueError: no game has this name.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a game must be text, not {brief(repr(name), 60)}")
    if name not in _entries:
        _find_installed()
    if name not in _entries:
        lost = "".join(f"; {told}" for told in _broken)
        near = did_you_mean(name, _entries)
        raise ValueError(f"unknown game {name!r}{near}; choose from {', '.join(_entries)}{lost}")
    return _entries[name]


def entries() -> tuple[GameEntry, ...]:
    """Return the entries of all games, those of this package first."""
    _find_installed()
    return tuple(_entries.values())


def option_names() -> set[str]:
    """Return the names of the game options in the entries, such as `players` and `board`."""
    each = ({*entry.switches, *chain(*entry.others.values())} for entry in entries())
    return {"players"}.union(*each)


def add(entry: GameEntry) -> None:
    """Add a game. Adding the same entry again has no effect.

    Raises:
        TypeError: `entry` is not a `GameEntry`.
        ValueError: another game has this name or title.
    """
    if not isinstance(entry, GameEntry):
        raise TypeError(f"a game must be added as a GameEntry, not {brief(repr(entry))}")
    if any(entry.title == other.title for other in _entries.values() if other.name != entry.name):
        raise ValueError(f"another game already has the title {entry.title!r}")
    if _entries.setdefault(entry.name, entry) != entry:
        raise ValueError(f"another game already has the name {entry.name!r}")


on_installed: Callable[[GameEntry], None] = add
"""The function that `_find_installed` calls with the entry of each game from an installed
package. `armarl.environments.registration` replaces `add` with `register_game`, so that these games
also get environment ids."""


def _find_installed() -> None:
    """Add the games of installed packages, from entry points `name = "package.module:ENTRY"`.

    If an entry point fails, its game is skipped with one warning. The other games stay available.
    """
    global _looked_for_installed
    if _looked_for_installed:
        return
    _looked_for_installed = True
    for point in entry_points(group=ENTRY_POINTS):
        try:
            on_installed(point.load())
        except Exception as error:  # a module of another package may raise anything
            kind = type(error).__name__
            told = f"the entry point {point.name} = {point.value} cannot be used: {kind}: {error}"
            _broken.append(brief(told))
            warnings.warn(_broken[-1], stacklevel=2)
