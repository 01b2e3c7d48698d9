"""The command `rules`, which prints a game's rules, in short or in full, or single rules."""

from __future__ import annotations

import argparse
import re

from armarl.common.messages import brief, did_you_mean, tell

_NUMBER = re.compile(r"([a-z]+)[-_ ]?(\d+)", re.IGNORECASE)
_MOST_WIDTH = 90  # columns


def rules(options: argparse.Namespace) -> int:
    """Print the rules of games, or single rules by their numbers."""
    from armarl.games.catalogue import entries

    pages = {entry.name: entry.page("rules.md") for entry in entries()}
    if options.subjects:
        texts = [_found(subject, pages, options.all) for subject in options.subjects]
    else:
        texts = ["\n".join(_told(name, page) for name, page in pages.items() if page)]
    _show("\n".join(texts))
    return 0


def numbered_rules(page: str) -> dict[str, str]:
    """Return the rules of a page by number. A table belongs to the rule above it."""
    parts = re.split(r"^- (?:\*\*([A-Z]+-\d+)\*\*)?|^## ", page, flags=re.MULTILINE)
    rules = zip(parts[1::2], parts[2::2], strict=True)
    return {number: f"**{number}** {text.strip()}\n" for number, text in rules if number}


def _told(name: str, page: str) -> str:
    first, last = _ends(list(numbered_rules(page)))
    return (
        f"- `armarl rules {name}`: the game in two minutes. With `--all`: every rule. "
        f"`armarl rules {first}`: one rule, up to {last}"
    )


def _ends(numbers: list[str]) -> tuple[str, str]:
    """Return the lowest and the highest of some rule numbers, which may be in any order."""
    ordered = sorted(numbers, key=lambda number: int(number.split("-")[1]))
    return ordered[0], ordered[-1]


def _found(subject: str, pages: dict[str, str], every: bool) -> str:
    """Return the text for a game's name or a rule's number.

    Raises:
        ValueError: no game or rule has this name, or the game has no rules page.
    """
    from armarl.games.catalogue import game_entry

    if (name := subject.lower()) in pages:
        page = pages[name] if every else game_entry(name).page("two_minutes.md")
        if not page:
            raise ValueError(f"the package of {name} has no rules page")
        return page
    known: dict[str, str] = {}
    for page in pages.values():
        known |= numbered_rules(page)
    if match := _NUMBER.fullmatch(subject):
        prefix = match[1].upper()
        if text := known.get(f"{prefix}-{int(match[2])}"):
            return text
        if same := [number for number in known if number.startswith(f"{prefix}-")]:
            raise ValueError(
                f"there is no rule {brief(subject)}; choose from {' to '.join(_ends(same))}"
            )
    near = did_you_mean(subject, [*pages, *known])
    raise ValueError(
        f"{brief(subject)!r} is neither a game nor the number of a rule{near}; choose from "
        f"{', '.join(pages)}, or a number such as {next(iter(known))}"
    )


def _show(page: str) -> None:
    """Print a page of Markdown without its pictures, formatted if `rich` is installed."""
    page = re.sub(r"!\[[^\]]*\]\([^)]*\)\n*", "", page)
    page = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page)
    try:
        from rich.console import Console
        from rich.markdown import Markdown
    except ImportError:
        tell(page)
        return
    console = Console()
    console.print(Markdown(page), width=min(console.width, _MOST_WIDTH))
