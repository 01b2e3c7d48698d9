"""Letters as outlines, so that a picture looks the same on a machine without fonts.

The outlines are in `letters.json`. `scripts/docs/make_letters.py` makes this file from an open
font, whose licence is in `letters-licence.txt`. A letter without an outline is drawn as a box. The
attribute `data-text` contains the text itself.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from html import escape
from importlib.resources import files

EM = 200  # the height of a line, in the units of the outlines
_BOX = (100, "M15 -130H85V0H15ZM25 -120V-10H75V-120Z")


@cache
def letters() -> dict[str, tuple[int, str]]:
    """Return the width and the outline of every letter."""
    text = files("armarl.core.pictures").joinpath("letters.json").read_text(encoding="utf-8")
    return {letter: (width, outline) for letter, (width, outline) in json.loads(text).items()}


@lru_cache(maxsize=4096)
def width_of(text: str, size: float) -> float:
    """Return the width of a line of text whose height is `size`."""
    known = letters()
    return sum(known.get(letter, _BOX)[0] for letter in text) * size / EM


@lru_cache(maxsize=4096)
def write(
    text: object,
    x: float,
    y: float,
    size: float,
    fill: str,
    anchor: str = "middle",
    most: float | None = None,
    more: str = "",
) -> str:
    """Return a line of text as an SVG element.

    Args:
        text: the text. Characters without an outline appear as boxes.
        x, y: the position of the anchor, which is on the baseline.
        size: the height of the line.
        fill: a colour.
        anchor: "start", "middle" or "end": the point of the line that is at `x`.
        most: the maximum width. Longer text is written smaller, down to two thirds of `size`. Text
            that is still too long is cut.
        more: further attributes of the SVG element.
    """
    line = " ".join(str(text).split())
    if most is not None and (wide := width_of(line, size)) > most:
        size = max(size * most / wide, size * 2 / 3)
        while len(line) > 1 and width_of(line, size) > most + 0.01:  # allows for rounding
            line = line.removesuffix("…")[:-1] + "…"
    x -= width_of(line, size) * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    known, at, uses = letters(), 0, []
    for letter in line:
        if letter != " ":
            uses.append(f'<use href="#{letter_id(letter)}"' + (f' x="{at}"/>' if at else "/>"))
        at += known.get(letter, _BOX)[0]
    scale = f"{size / EM:.3f}".rstrip("0")
    return (
        f'<g data-text="{plain(line)}" transform="translate({x:.1f} {y:.1f}) scale({scale})" '
        f'fill="{fill}"{more and " " + more}>{"".join(uses)}</g>'
    )


def plain(text: str) -> str:
    """Return text escaped for SVG, without markup, references and names of the sheet's colours."""
    return escape(text).replace("var(", "var&#40;").replace("url(", "url&#40;")


def letter_id(letter: str) -> str:
    """Return the id of a letter's outline."""
    return f"l{ord(letter):x}" if letter in letters() else "lbox"


@lru_cache(maxsize=1024)
def outline(name: str) -> str | None:
    """Return the SVG element with a letter's id, or None if no letter has this id."""
    if name == "lbox":
        return f'<path id="{name}" d="{_BOX[1]}"/>'
    try:
        letter = chr(int(name[1:], 16)) if name.startswith("l") else ""
    except ValueError:
        return None
    found = letters().get(letter)
    return f'<path id="{name}" d="{found[1]}"/>' if found else None
