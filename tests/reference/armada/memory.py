"""The knowledge of a seat of Armada about hidden cards, computed from all events that it has seen.

The events are (what, player, card or cards), in order: "deal" (a card of the first hand), "look"
(cards that a strategist sees before it takes one), "draw" (a card into a hand), "play" (a card out
of a hand), "asked" and "not asked" (whether a player was asked to play a card, which happens only
if it has the card). The knowledge is computed from all events each time, which is slow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

ANSWERS = ("attack", "defence", "raid")

Event = tuple[str, int, Any]


def known(events: Sequence[Event], hands: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Return the entry `known` of `describe`: knowledge of each player, and about each player."""
    found = []
    for seat in range(len(hands)):
        certain, drawn = _in_deck(events, seat, len(hands))
        holds = {card: _holds(events, seat, card) for card in ANSWERS}
        found.append({"in_deck": sorted(certain.elements()), "drawn": drawn, "holds": holds})
    return found


def _in_deck(events: Sequence[Event], seat: int, players: int) -> tuple[Counter[str], list[int]]:
    """Return the cards that a seat saw in the deck, and how many each player has drawn since."""
    certain: Counter[str] = Counter()
    drawn = [0] * players
    held = [0] * players
    for what, who, card in events:
        held[who] += (what in ("deal", "draw")) - (what == "play")
        if what == "look" and who == seat:
            surely = {kind: number - sum(drawn) for kind, number in certain.items()}
            certain = Counter(card) | Counter({k: n for k, n in surely.items() if n > 0})
            drawn = [0] * players
        elif what == "draw" and who == seat:
            certain -= Counter([card])
        elif what == "draw":
            drawn[who] += 1
        elif what == "play" and drawn[who]:
            certain -= Counter([card])  # the played card may be one of the cards seen in the deck
            drawn[who] = min(drawn[who], held[who])
    return certain, drawn


def _holds(events: Sequence[Event], player: int, card: str) -> bool | None:
    """Return whether a player is known to have a card (None: unknown), from its answers."""
    says: bool | None = None
    for what, who, about in events:
        if who == player and what == "draw":
            says = says or None
        elif who == player and about == card and what in ("asked", "not asked", "play"):
            says = {"asked": True, "not asked": False, "play": None}[what]
    return says


def agrees(
    known: Sequence[dict[str, Any]],
    hands: Sequence[Sequence[str]],
    deck: Sequence[str],
    seat: int,
) -> bool:
    """Return whether hands and deck agree with the knowledge of a seat."""
    others = [player for player in range(len(hands)) if player != seat]
    for player in others:
        for card, held in known[player]["holds"].items():
            if held is not None and held != (card in hands[player]):
                return False
    away = Counter(known[seat]["in_deck"]) - Counter(deck)
    room = [known[seat]["drawn"][player] for player in others]
    return _fit(list(away.elements()), [Counter(hands[player]) for player in others], room)


def _fit(cards: list[str], hands: list[Counter[str]], room: list[int]) -> bool:
    """Return whether each card fits into a hand, with at most `room[i]` of them in hand `i`."""
    if not cards:
        return True
    first, *rest = cards
    for i, hand in enumerate(hands):
        if hand[first] and room[i]:
            fewer = [h - Counter([first]) if k == i else h for k, h in enumerate(hands)]
            if _fit(rest, fewer, [n - (k == i) for k, n in enumerate(room)]):
                return True
    return False
