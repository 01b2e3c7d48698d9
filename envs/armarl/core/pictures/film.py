"""`Film`: many pictures with the same sheet, for web pages. Each piece of SVG is stored once.

A browser shows a film with `film.js`, which only replaces pieces of SVG and draws nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib.resources import files
from typing import Any

from armarl.core.pictures.picture import Picture
from armarl.core.pictures.sheet import PLAIN_THEMES, Sheet

_TAG = re.compile(r"(?=<)")  # splits SVG before each tag, because many tags occur repeatedly

Frame = tuple[int, ...]  # for each part of a picture, the number of its piece


class Film:
    """The pieces of many pictures. A picture becomes a `Frame`: the number of each part's piece.

    New pieces can be added at any time, so a film can show a finished game and a game in play. The
    pieces are split into strings, which are also stored once. A web page receives each piece as the
    list of the numbers of its strings. Piece 0 is empty.

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
        """Create a film without pictures.

        Args:
            sheet: the sheet of all pictures of the film.
        """
        self.sheet = sheet
        self._strings: dict[str, int] = {}
        self._pieces: dict[str, int] = {}
        self._definitions: dict[str, None] = {}
        self._told = [0, 0, 0]  # numbers of strings, pieces and definitions returned by `news`
        self._number_of("")

    def frame(self, picture: Picture) -> Frame:
        """Return the frame of a picture.

        Raises:
            ValueError: the picture has another sheet.
        """
        if picture.sheet is not self.sheet:
            raise ValueError(
                "the picture and the film have different sheets; create a film for each sheet"
            )
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
        """Return the head of the film, which a page needs before the first frame, as JSON types.

        Its keys are `name`, `width`, `height` and `colours` (a style rule for each theme).
        """
        sheet = self.sheet
        return {
            "name": sheet.name,
            "width": sheet.width,
            "height": sheet.height,
            "colours": {theme: sheet.variables(theme) for theme in PLAIN_THEMES},
        }

    def news(self) -> dict[str, Any]:
        """Return the `strings`, `pieces` and `definitions` that are new since the last call.

        The result has JSON types.
        """
        strings, pieces, definitions = (
            list(whole)[told:] for whole, told in zip(self._all(), self._told, strict=True)
        )
        self._told = [len(whole) for whole in self._all()]
        numbers = [[self._strings[tag] for tag in _TAG.split(svg)] for svg in pieces]
        return {"strings": strings, "pieces": numbers, "definitions": definitions}


def changes(before: Frame, after: Frame) -> list[int]:
    """Return the changes between two frames, as a flat list: a changed part, its new piece, …"""
    size = max(len(before), len(after))
    pairs = zip(_filled(before, size), _filled(after, size), strict=True)
    return [n for part, (old, new) in enumerate(pairs) if old != new for n in (part, new)]


def _filled(frame: Frame, size: int) -> Frame:
    return frame + (0,) * (size - len(frame))


def script() -> str:
    """Return the script that shows films, `film.js`."""
    return files("armarl.core.pictures").joinpath("film.js").read_text(encoding="utf-8")
