"""What strangers have written, in our messages: short, and nothing that a terminal would obey."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

MOST_SHOWN = 300  # characters


def printable(text: str) -> str:
    """A text without what a terminal would take for a command."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def brief(said: object, most: int = MOST_SHOWN) -> str:
    """What a file or an error says, in one line no longer than is read."""
    text = printable(" ".join(str(said).split()))
    return text if len(text) <= most else f"{text[:most]} ..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean armadora-2p?)` for what is nearly a known name, else nothing.

    Names of several words are looked for in any order of these.
    """
    by_words = {_in_order(one): one for one in known}
    near = difflib.get_close_matches(_in_order(name[:MOST_SHOWN]), by_words, 1)
    return f" (did you mean {by_words[near[0]]}?)" if near else ""


def _in_order(name: str) -> str:
    return "-".join(sorted(name.lower().split("-")))


def relation(sides: Sequence[int], seat: int, other: int) -> str:
    """What somebody in another seat is to one's own: ` (you)`, ` (your partner)` or nothing."""
    if other == seat:
        return " (you)"
    return " (your partner)" if sides[other] == sides[seat] else ""
