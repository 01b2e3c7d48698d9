"""The tables of `policies/README.md`, from what the shipped policies' files say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarl.catalogue import OURS
from armarl.players import shipped_policies
from armarl.policies import read_policy_metadata

ALWAYS = ("random", "greedy")  # the rivals of the first table
USUAL = 998  # games of a match that need no mention: 1,000 by whole rotations, or two fewer

Card = Mapping[str, Any]  # the metadata of a policy's file


def tables() -> dict[str, str]:
    """Every table as Markdown, by the name that marks its place in the page."""
    shipped = shipped_policies()
    cards = {name: read_policy_metadata(path) for name, path in sorted(shipped.items())}
    cards = dict(sorted(cards.items(), key=_order))
    found = {"policies": "\n".join(_overview(cards))}
    for entry in OURS:
        own = {name: card for name, card in cards.items() if card["variant"]["game"] == entry.name}
        found[entry.name] = "\n".join(_against_rivals(own))
    return found


def _order(policy: tuple[str, Card]) -> tuple[int, int]:
    """By game, simple rules first."""
    name, card = policy
    return [entry.name for entry in OURS].index(card["variant"]["game"]), len(name)


def _overview(cards: Mapping[str, Card]) -> list[str]:
    lines = [
        "| policy | trained | against random | against greedy |",
        "| --- | --- | --- | --- |",
    ]
    for name, card in cards.items():
        trained = card["training"]
        effort = f"{trained['decisions']:,} decisions, {trained['minutes']:.0f} minutes"
        wins = [_cell(_matches(card).get(rival)) for rival in ALWAYS]
        lines.append(_row(f"`{name}`", effort, *wins))
    return lines


def _against_rivals(cards: Mapping[str, Card]) -> list[str]:
    """A row for every rival that one of these policies was measured against."""
    matches = {name: _matches(card) for name, card in cards.items()}
    met = {rival for card in cards.values() for rival in _trained_against(card)}
    rivals = {rival for found in matches.values() for rival in found} - set(ALWAYS)
    lines = [_row("rival", *(f"`{name}`" for name in cards)), _row(*["---"] * (1 + len(cards)))]
    for rival in sorted(rivals, key=lambda rival: (rival not in met, rival)):
        title = f"`{rival}`" if rival in met else f"held out: `{rival}`"
        lines.append(_row(title, *(_cell(found.get(rival)) for found in matches.values())))
    return lines


def _trained_against(card: Card) -> list[str]:
    """The rivals and the advisers of its training."""
    config = card["training"]["config"]
    return [*config["opponents"]["players"], *config["network"]["advisers"]]


def _matches(card: Card) -> dict[str, Card]:
    """What the policy reached, by its rival."""
    return {match["standings"][1]["player"]: match["standings"][0] for match in card["strength"]}


def _cell(standing: Card | None) -> str:
    if standing is None:
        return ""
    rate, low, high = (100 * standing[key] for key in ("win_rate", "low", "high"))
    games = "" if standing["games"] >= USUAL else f" of {standing['games']}"
    return f"{rate:.1f} % ({low:.1f} to {high:.1f}){games}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def filled(page: str, made: Mapping[str, str]) -> str:
    """A page with its tables replaced, each between `<!-- NAME -->` and `<!-- /NAME -->`.

    Raises:
        ValueError: the page has no place for one of them.
    """
    for name, table in made.items():
        first, last = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
        before, found, rest = page.partition(first)
        _, closed, after = rest.partition(last)
        if not (found and closed):
            raise ValueError(f"the page has no place for {name}: no {first.strip()} with its end")
        page = before + first + table + last + after
    return page
