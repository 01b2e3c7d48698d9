"""`Film`: many pictures of one sheet, each piece of SVG kept once, for pages that show them.

A browser shows a film with `film.js`. It puts pieces in place of others and draws nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib.resources import files
from typing import Any

from armarl.core.pictures.picture import Picture
from armarl.core.pictures.sheet import PLAIN_THEMES, Sheet

_TAG = re.compile(r"(?=<)")  # tags repeat often, such as a letter at a place in its line

Frame = tuple[int, ...]  # the number of a piece for each part of a picture


class Film:
    """The pieces of many pictures. A picture becomes a `Frame`, a number for each part.

    Pieces may come at any time, so a film serves a finished game and one that is being played. A
    piece is the numbers of its strings. Piece 0 is empty.

    Attributes:
        sheet: the sheet of all pictures.

    Example:
        >>> import numpy as np
        >>> import armarl
        >>> game = armarl.make_game("armadora")
        >>> states = game.new_states(0)
        >>> film = Film(game.picture(states[0]).sheet)
        >>> first = film.frame(game.picture(states[0]))
        >>> len(film.news()["pieces"]) > 100
        True
        >>> game.apply(states, np.array([0]), np.array([game.actions.id("P a1-b1")]))
        >>> second = film.frame(game.picture(states[0]))
        >>> len(changes(first, second)) // 2, len(film.news()["pieces"])  # parts, new pieces
        (3, 3)
    """

    def __init__(self, sheet: Sheet) -> None:
        """Begin a film.

        Args:
            sheet: the sheet of all its pictures.
        """
        self.sheet = sheet
        self._strings: dict[str, int] = {}
        self._pieces: dict[str, int] = {}
        self._definitions: dict[str, None] = {}
        self._told = [0, 0, 0]  # how many of each `news` has returned
        self._number_of("")

    def frame(self, picture: Picture) -> Frame:
        """Return the frame of a picture.

        Raises:
            ValueError: the picture has another sheet.
        """
        if picture.sheet is not self.sheet:
            raise ValueError("a film holds pictures of one sheet; begin another film")
        return tuple(self._number_of(part.svg) for part in picture.parts)

    def _number_of(self, svg: str) -> int:
        if svg not in self._pieces:
            self._pieces[svg] = len(self._pieces)
            self._definitions |= dict.fromkeys(self.sheet.needed(svg))
            for tag in _TAG.split(svg):
                self._strings.setdefault(tag, len(self._strings))
        return self._pieces[svg]

    def _all(self) -> tuple[Collection[str], ...]:
        return self._strings, self._pieces, self._definitions

    def head(self) -> dict[str, Any]:
        """Return what a page needs before the first frame, as JSON types.

        These are `name`, `width`, `height`, and the `colours` as a style rule for each theme.
        """
        sheet = self.sheet
        return {
            "name": sheet.name,
            "width": sheet.width,
            "height": sheet.height,
            "colours": {theme: sheet.variables(theme) for theme in PLAIN_THEMES},
        }

    def news(self) -> dict[str, Any]:
        """Return the `strings`, `pieces` and `definitions` since the last call, as JSON types."""
        strings, pieces, definitions = (
            list(whole)[told:] for whole, told in zip(self._all(), self._told, strict=True)
        )
        self._told = [len(whole) for whole in self._all()]
        numbers = [[self._strings[tag] for tag in _TAG.split(svg)] for svg in pieces]
        return {"strings": strings, "pieces": numbers, "definitions": definitions}


def changes(before: Frame, after: Frame) -> list[int]:
    """Return what turns one frame into another: a part, its new piece, a part, its new piece, …"""
    size = max(len(before), len(after))
    pairs = zip(_filled(before, size), _filled(after, size), strict=True)
    return [n for part, (old, new) in enumerate(pairs) if old != new for n in (part, new)]


def _filled(frame: Frame, size: int) -> Frame:
    return frame + (0,) * (size - len(frame))


def script() -> str:
    """Return the script that shows films, `film.js`."""
    return files("armarl.core.pictures").joinpath("film.js").read_text(encoding="utf-8")
