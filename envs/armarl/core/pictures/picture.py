"""`Picture`: a drawing in parts, as SVG or as pixels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from armarl.core.pictures import lettering

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from armarl.core.game import Game

THEMES = ("auto", "light", "dark")
PLAIN_THEMES = THEMES[1:]
WIDTH = 512  # pixels of an environment's frames
_COLOUR = re.compile(r"var\(--([\w-]+)\)")
_REFERENCE = re.compile(r'(?:href="|url\()#([\w-]+)')

Box = tuple[float, float, float, float]  # x, y, width, height


class Scene(NamedTuple):
    """All that a game's drawing is given. It holds nothing that the seat may not know.

    Attributes:
        game: the variant.
        view: the result of `describe` for the seat.
        seat: the seat that looks, or None for the whole position.
        before: the view of an earlier position, to mark all that has changed since, or None.
        last: the last action: the seat that played it and its notation, as far as the seat that
            looks may know it. None if it is not given.
        names: a name for each seat.
    """

    game: Game
    view: dict[str, Any]
    seat: int | None
    before: dict[str, Any] | None
    last: tuple[int, str] | None
    names: tuple[str, ...]


class Part(NamedTuple):
    """A part of a picture: an SVG element with an id, and the box that it stays within.

    Only parts that change are drawn anew in the next frame.
    """

    box: Box
    svg: str


@dataclass(frozen=True, eq=False)
class Sheet:
    """What all pictures of a variant share. Keep one for each: drawn parts are kept with it.

    Attributes:
        name: the game's name.
        width, height: the size of a picture in its own units.
        colours: for each name, the colours in light and in dark. SVG says `var(--name)`.
        definitions: elements that parts refer to, by id, such as gradients and patterns.
    """

    name: str
    width: float
    height: float
    colours: Mapping[str, tuple[str, str]]
    definitions: Mapping[str, str]

    def document(self, box: Box, body: str, title: str = "", style: str = "", size: str = "") -> str:
        """Return a document with some parts and all that they refer to."""
        needed = "".join(self._needed(body))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="armarl-{self.name}" {size}'
            f'viewBox="{" ".join(f"{number:g}" for number in box)}" role="img">'
            f"<title>{escape(title)}</title>{style}<defs>{needed}</defs>\n{body}\n</svg>"
        )

    def painted(self, svg: str, theme: str) -> str:
        """Return SVG with the colours of a theme in place of their names."""
        shade = PLAIN_THEMES.index(theme)
        return _COLOUR.sub(lambda match: self.colours[match[1]][shade], svg)

    def variables(self) -> str:
        """Return a style sheet that sets the colours, as the reader's browser prefers."""
        light, dark = (
            ";".join(f"--{name}:{both[shade]}" for name, both in self.colours.items())
            for shade in (0, 1)
        )
        rule = f".armarl-{self.name}"
        return (
            f"<style>{rule}{{{light}}}@media(prefers-color-scheme:dark){{{rule}{{{dark}}}}}</style>"
        )

    def _needed(self, body: str) -> Iterator[str]:
        """Yield the definitions that some SVG refers to, and those that they refer to."""
        wanted, seen = sorted(_references(body)), set[str]()
        while wanted:
            name = wanted.pop(0)
            if name not in seen:
                seen.add(name)
                found = self.definitions.get(name) or lettering.outline(name)
                assert found is not None, f"nothing defines #{name}"
                wanted += sorted(_references(found))
                yield found


@dataclass(frozen=True)
class Picture:
    """A drawing of a position, in parts from back to front. A notebook shows it.

    Attributes:
        sheet: what it shares with other pictures of its variant.
        title: what it shows, in words.
        parts: the parts.

    Example:
        >>> import armarl
        >>> game = armarl.make_game("armadora")
        >>> picture = game.picture(game.new_states(0)[0], seat=0)
        >>> picture.svg("dark")[:4]
        '<svg'
    """

    sheet: Sheet
    title: str
    parts: tuple[Part, ...]

    def svg(self, theme: str = "auto") -> str:
        """Return the picture as an SVG document.

        Args:
            theme: "light", "dark", or "auto" to follow the reader's browser. Programs other than
                browsers need one of the first two.

        Raises:
            ValueError: the theme does not exist.
        """
        check_theme(theme)
        sheet, body = self.sheet, "\n".join(part.svg for part in self.parts)
        box = (0.0, 0.0, sheet.width, sheet.height)
        if theme == "auto":
            return sheet.document(box, body, self.title, sheet.variables())
        return sheet.painted(sheet.document(box, body, self.title), theme)

    def png(self, width: int = 2 * WIDTH, theme: str = "light") -> bytes:
        """Return the picture as a PNG file.

        Args:
            width: its width in pixels, 16 to 4096, rounded up to an even number. The height
                follows, even too.
            theme: "light" or "dark".

        Raises:
            ValueError: the width or the theme does not exist.
            ImportError: the extra `render` is not installed.
        """
        from armarl.core.pictures import raster

        return raster.png(self, width, theme)

    def pixels(self, width: int = WIDTH, theme: str = "light") -> NDArray[np.uint8]:
        """Return the picture as an array, uint8 (height, width, 3), both even, in a new array.

        Raises:
            ValueError, ImportError: as `png`.
        """
        from armarl.core.pictures import raster

        return raster.pixels(self, width, theme)

    def _repr_svg_(self) -> str:
        return self.svg()


@lru_cache(maxsize=2048)
def _references(svg: str) -> frozenset[str]:
    return frozenset(_REFERENCE.findall(svg))


def check_theme(theme: object, known: tuple[str, ...] = THEMES) -> None:
    """Raise ValueError if a theme does not exist."""
    if theme not in known:
        raise ValueError(f"theme must be {' or '.join(map(repr, known))}, not {theme!r}")
