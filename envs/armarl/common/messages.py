"""Text for people: untrusted text made short and safe for a terminal, and parts of sentences."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Iterable, Sequence
from typing import TextIO

MOST_SHOWN = 300  # maximum number of characters of untrusted text in a message
_WORD = re.compile(r"\d+[^\W\d_]*|[^\W\d_]+")  # words of a name: armadora, 2p


def printable(text: str) -> str:
    """Return text with `?` in place of unprintable characters, which could control a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def tell(said: object, *, to: TextIO | None = None, end: str = "\n") -> None:
    """Print text that may contain untrusted text, such as names of folders.

    The command line prints everything with this function, so that no text can control the terminal.

    Args:
        said: the text. It may have several lines.
        to: the stream. None means stdout.
        end: a string that is printed after the text without changes.
    """
    print("\n".join(map(printable, str(said).split("\n"))), end=end, file=to, flush=True)


def log(said: object) -> None:
    """Log a warning that may contain untrusted text.

    The logger is `armarl`. Python prints the warning to stderr unless a program redirects or
    silences the logger.
    """
    logging.getLogger("armarl").warning("%s", printable(str(said)))


def brief(said: object, most: int = MOST_SHOWN) -> str:
    """Return the text of a file or an error as one printable line, cut after `most` characters."""
    text = printable(" ".join(str(said).split()))
    return text if len(text) <= most else f"{text[:most]} ..."


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence.

    Example:
        >>> listed(["a", "b", "c"]), listed(["a"]), listed([])
        ('a, b and c', 'a', '')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def counted(number: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun: `1 card`, `2 cards`. `more` is the plural, if irregular."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean armadora-2p?)` if a known name is similar, else an empty string.

    The words of `name` may be in any order, in upper or lower case, and without hyphens.

    Example:
        >>> did_you_mean("Advanced_armadora2p", ["armadora-2p", "armadora-2p-advanced"])
        ' (did you mean armadora-2p-advanced?)'
    """
    by_words = {_in_order(one): one for one in known}
    near = difflib.get_close_matches(_in_order(name[:MOST_SHOWN]), by_words, 1)
    return f" (did you mean {by_words[near[0]]}?)" if near else ""


def _in_order(name: str) -> str:
    return "-".join(sorted(_WORD.findall(name.lower())))


def relation(sides: Sequence[int], seat: int, other: int) -> str:
    """Return ` (you)`, ` (your partner)` or an empty string for seat `other`, as seen by `seat`."""
    if other == seat:
        return " (you)"
    return " (your partner)" if sides[other] == sides[seat] else ""
