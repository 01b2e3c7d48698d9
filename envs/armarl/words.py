"""What strangers have written, in our messages: short, and nothing that a terminal would obey."""

from __future__ import annotations

MOST_SHOWN = 300  # characters


def printable(text: str) -> str:
    """A text without what a terminal would take for a command."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def brief(said: object, most: int = MOST_SHOWN) -> str:
    """What a file or an error says, in one line no longer than is read."""
    text = printable(" ".join(str(said).split()))
    return text if len(text) <= most else f"{text[:most]} ..."
