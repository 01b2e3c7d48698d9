"""Make foreign text safe for our messages: short, and free of terminal control sequences."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Iterable, Sequence
from typing import TextIO

MOST_SHOWN = 300  # characters
_WORD = re.compile(r"\d+[^\W\d_]*|[^\W\d_]+")  # words of a name: armadora, 2p


def printable(text: str) -> str:
    """Replace all characters that a terminal could take for a command."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def tell(said: object, *, to: TextIO | None = None, end: str = "\n") -> None:
    """Print text, parts of which others may have written, such as the names of folders.

    Everything that the command line prints goes through here, so that nothing moves a terminal.

    Args:
        said: the text; its lines stay apart.
        to: the stream. None: stdout.
        end: printed after the text, as it is.
    """
    print("\n".join(map(printable, str(said).split("\n"))), end=end, file=to, flush=True)


def log(said: object) -> None:
    """Log a warning of the package, parts of which others may have written.

    The logger is `armarl`. Python prints it to stderr unless a program routes or silences it.
    """
    logging.getLogger("armarl").warning("%s", printable(str(said)))


def brief(said: object, most: int = MOST_SHOWN) -> str:
    """Shorten a file's or an error's text to one printable line."""
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

    The words of a name may be in any order, in any case, and without the hyphens.

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
