"""The parts of a picture, and the sheet that all pictures of a variant share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from armarl.core.pictures import lettering

THEMES = ("auto", "light", "dark")
PLAIN_THEMES = THEMES[1:]
WIDTH = 512  # the width of an environment's frames, in pixels
_COLOUR = re.compile(r"var\(--([\w-]+)\)")
_REFERENCE = re.compile(r'(?:href="|url\()#([\w-]+)')

Box = tuple[float, float, float, float]  # x, y, width, height


class Part(NamedTuple):
    """A part of a picture: an SVG element, and a box that contains it.

    Only the parts that have changed since the last frame are drawn again.
    """

    box: Box
    svg: str


@dataclass(frozen=True, eq=False)
class Sheet:
    """The size, colours and definitions that all pictures of a variant share.

    Create only one sheet per variant, because the pixels of drawn parts are cached for each sheet.

    Attributes:
        name: the game's name.
        width, height: the size of a picture, in the units of its SVG.
        colours: for each name, the colours in the light and the dark theme. SVG refers to a colour
            as `var(--name)`.
        definitions: SVG elements, by id, to which parts refer, such as gradients and patterns.

    Raises:
        ValueError: two names have the same light colour and different dark colours.
    """

    name: str
    width: float
    height: float
    colours: Mapping[str, tuple[str, str]]
    definitions: Mapping[str, str]

    def __post_init__(self) -> None:
        if len(dict(self.colours.values())) < len(set(self.colours.values())):
            raise ValueError(
                f"two colours of {self.name} are the same in the light theme but differ in the "
                "dark theme; change one digit of one of the light colours"
            )

    def document(
        self, box: Box, body: str, title: str = "", style: str = "", size: str = ""
    ) -> str:
        """Return an SVG document with some parts and all definitions to which they refer."""
        needed = "".join(self.needed(body))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="armarl-{self.name}" {size}'
            f'viewBox="{" ".join(f"{number:g}" for number in box)}" role="img">'
            f"<title>{lettering.plain(title)}</title>{style}<defs>{needed}</defs>\n{body}\n</svg>"
        )

    def painted(self, svg: str, theme: str) -> str:
        """Return SVG with the colours of a theme in place of their names."""
        shade = PLAIN_THEMES.index(theme)
        return _COLOUR.sub(lambda match: self.colours[match[1]][shade], svg)

    def variables(self, theme: str) -> str:
        """Return the colours of a theme as the properties of a style rule, for `var(--name)`."""
        shade = PLAIN_THEMES.index(theme)
        return ";".join(f"--{name}:{shades[shade]}" for name, shades in self.colours.items())

    def dark_style(self) -> str:
        """Return a style sheet with the dark colours, for browsers whose user prefers dark pages.

        The elements themselves contain the light colours, so programs that ignore style sheets show
        the light colours.
        """
        rules = "".join(
            f'.armarl-{self.name} [{use}="{light}"]{{{use}:{dark}}}'
            for light, dark in dict(self.colours.values()).items()
            if light != dark
            for use in ("fill", "stroke", "stop-color")
        )
        return f"<style>@media(prefers-color-scheme:dark){{{rules}}}</style>"

    def needed(self, body: str) -> Iterator[str]:
        """Yield the definitions to which SVG refers, directly or through other definitions."""
        wanted, seen = sorted(_references(body)), set[str]()
        while wanted:
            name = wanted.pop(0)
            if name not in seen:
                seen.add(name)
                found = self.definitions.get(name) or lettering.outline(name)
                assert found is not None, f"nothing defines #{name}"
                wanted += sorted(_references(found))
                yield found


@lru_cache(maxsize=2048)
def _references(svg: str) -> frozenset[str]:
    return frozenset(_REFERENCE.findall(svg))


def check_theme(theme: object, known: tuple[str, ...] = THEMES) -> None:
    """Raise ValueError if a theme does not exist."""
    if theme not in known:
        raise ValueError(f"theme must be {' or '.join(map(repr, known))}, not {theme!r}")
