"""The public view of an Armada state as plain JSON types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from armarl.games.armada.actions import CARD_NAMES, CENTRAL, TERRITORIES
from armarl.games.armada.chart.geography import COLOURS
from armarl.games.armada.dice import DIE_NAMES
from armarl.games.armada.knowledge import HELD, LACKED
from armarl.games.armada.state import (
    ANSWER_ATTACK,
    ANSWER_CARDS,
    ANSWER_DEFENCE,
    NOBODY,
    NUMBER_BANDS,
    NUMBER_GOLD,
    ORDER,
    OVER,
    PEEKING,
    PLACE_ENROLLED,
    PLACE_NATIVES,
    PLACE_RECRUITS,
    SPREAD_BANDS,
)
from armarl.games.armada.text.claims import claims_of

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def stage_name(stage: int) -> str:
    """Return the name of a kind of decision in the public view."""
    if stage <= SPREAD_BANDS:
        return "preliminary"
    if stage == ORDER:
        return "order"
    if stage in (NUMBER_BANDS, NUMBER_GOLD):
        return "number"
    if PLACE_ENROLLED <= stage <= PLACE_NATIVES:
        return "place"
    return {PEEKING: "look", OVER: "over"}.get(stage, "answer")


def colours_of(view: dict[str, Any], player: int) -> list[str]:
    """Return a player's colours. With two players, each player has every second one (ADA-11)."""
    own = list(view["reserve"])
    return own[player::2] if len(view["hand_sizes"]) == 2 else [own[player]]


def owner_name(owner: int) -> str | None:
    """Return the name of an owner: a colour, "tribes", or None for nobody."""
    return None if owner == NOBODY else (*COLOURS, "tribes")[owner]


def describe(game: Game, state: State, seat: int | None) -> dict[str, Any]:
    """Return the public view of a state as plain JSON types.

    Args:
        seat: the seat whose view to return. Everything that it may not know is None. A `seat` of
            None returns the full view.
    """
    states = np.full(1, state)
    if seat is not None:
        states = game.concealed(states, np.array([seat]))
    s = states[0]
    places = game.attributes["chart"].places
    over = s["stage"] == OVER
    hands = [_hand(s, p) if seat in (None, p) else None for p in range(game.players)]
    claims = list(claims_of(s))
    return {
        "game": game.name,
        "version": game.version,
        "players": game.players,
        "options": dict(game.options),
        "territories": dict(zip(places, _territories(s), strict=False)),
        "ships": {places[p]: _ship(s, p) for p in _sea_squares_with_ships(s)},
        "box": int(s["box"]),
        "reserve": {
            colour: int(s["reserve"][i]) for i, colour in enumerate(COLOURS) if i != s["neutral"]
        },
        "supply": {"gold": int(s["supply_gold"]), "tribes": int(s["supply_tribes"])},
        "neutral": owner_name(s["neutral"]),
        "turn": {**_turn(s, s["raid"]), "stage": stage_name(s["stage"])},
        "interrupted": _turn(s, 0) if s["raid"] else None,
        "pending": _pending(game, s, seat),
        "claims": [claim.colour for claim in claims],
        "new_claims": [claim.colour for claim in claims if claim.new],
        "hands": hands,
        "hand_sizes": [int(size) for size in s["hand_size"][: game.players]],
        "deck": _deck(s) if seat is None else None,
        "deck_size": int(s["deck_size"]),
        "played": _cards(s["played"]),
        "known": [_known(s, p, seat) for p in range(game.players)] if s["cards"] else [],
        "to_move": None if over else int(s["to_move"]),
        "legal": _legal(game, states, seat),
        "chance": [[DIE_NAMES[s["die"][i]], int(s["face"][i])] for i in range(int(s["thrown"]))],
        "result": _result(s) if over else None,
    }


def _territories(s: State) -> Iterator[dict[str, Any]]:
    """Yield the view of each territory.

    Fields are read as lists, because compiled functions are slow to call from Python.
    """
    tribes = CENTRAL * [0] + s["tribes"].tolist()
    ships = int(s["ships"][0])
    owners, bands, gold = (s[name].tolist() for name in ("owner", "bands", "gold"))
    for territory in range(TERRITORIES):
        owner = owner_name(owners[territory])
        yield {
            "owner": owner,
            "explored": territory < CENTRAL or owner is not None,
            "bands": bands[territory],
            "colour": owner if bands[territory] else None,
            "tribes": tribes[territory],
            "gold": gold[territory],
            "ship": bool(ships >> territory & 1),
        }


def _sea_squares_with_ships(s: State) -> list[int]:
    ships = int(s["ships"][1]) % 2**64
    return [TERRITORIES + square for square in range(ships.bit_length()) if ships >> square & 1]


def _ship(s: State, square: int) -> dict[str, Any]:
    return {
        "colour": owner_name(s["owner"][square]),
        "bands": int(s["bands"][square]),
        "gold": int(s["gold"][square]),
    }


def _turn(s: State, raid: int) -> dict[str, Any]:
    """Return the view of the turn (`raid` 0) or of the raid (`raid` 1)."""
    colour = int(s["colour"][raid])
    return {
        "number": None if s["turn"] < 0 else int(s["turn"]),
        "player": int(s["seat_of"][colour]),
        "colour": COLOURS[colour],
        "raid": bool(raid),
        "coups": int(s["coups"][raid]),
        "enrolled": bool(s["enrolled"][raid]),
        "more_coups": bool(s["more_coups"][raid]),
    }


def _pending(game: Game, s: State, seat: int | None) -> dict[str, Any] | None:
    """Return the view of the chain of decisions under way, or None if there is none."""
    if s["order"] < 0:
        return None
    pending: dict[str, Any] = {"order": game.actions.text(s["order"])}
    stage = s["stage"]
    if stage in (NUMBER_BANDS, NUMBER_GOLD):
        pending["numbers"] = [int(s["count"])] if stage == NUMBER_GOLD else []
    elif stage in (ANSWER_ATTACK, ANSWER_DEFENCE):
        pending["roll"] = ["combat", int(s["roll"])]
    elif stage in (PLACE_RECRUITS, PLACE_NATIVES):
        pending["roll"] = ["tribes", int(s["roll"])]
    elif stage == PEEKING:
        looked = _deck(s)[: int(s["looked"])]
        pending["looked"] = looked if seat in (None, s["to_move"]) else None
    return pending


def _cards(counts: Any) -> list[str]:
    """Return the sorted names of cards from the number of cards of each kind."""
    return sorted(name for card, name in enumerate(CARD_NAMES) for _ in range(counts[card]))


def _hand(s: State, player: int) -> list[str]:
    return _cards(s["hand"][player])


def _known(s: State, player: int, seat: int | None) -> dict[str, Any]:
    """Return a player's knowledge of the deck, and the public knowledge of its hand (ADA-37)."""
    says = {HELD: True, LACKED: False, 0: None}
    answers = zip(ANSWER_CARDS, s["answers"][player], strict=True)
    return {
        "in_deck": _cards(s["remembered"][player]) if seat in (None, player) else None,
        "drawn": [int(number) for number in s["drawn"][player][: s["players"]]],
        "holds": {CARD_NAMES[card]: says[int(known)] for card, known in answers},
    }


def _deck(s: State) -> list[str | None]:
    """Return the names of the deck's cards, top first; unknown cards are None."""
    cards = s["deck"][: int(s["deck_size"])][::-1]
    return [CARD_NAMES[card - 1] if card else None for card in cards]


def _legal(game: Game, states: Any, seat: int | None) -> list[str] | None:
    """Return the sorted legal notations, or None if it is not the seat's turn."""
    if states[0]["stage"] == OVER:
        return []
    if seat not in (None, states[0]["to_move"]):
        return None
    return sorted(game.actions.legal_texts(game.legal_masks(states)[0]))


def _result(s: State) -> dict[str, Any]:
    winner = int(s["winner"])
    return {"winners": [winner] if winner >= 0 else [], "truncated": winner < 0}
