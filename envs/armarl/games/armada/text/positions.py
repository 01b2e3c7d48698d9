"""States of Armada from descriptions: the inverse of `describe`.

A description omits some values of an open chain of decisions, such as the next territory of the
preliminary turn. All possible values are tried one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from armarl.compiler.types import State
from armarl.core.positions import Description
from armarl.games.armada.actions import CARD_NAMES, CENTRAL, MOST_PIECES, TERRITORIES
from armarl.games.armada.chart.loading import COLOURS
from armarl.games.armada.dice import DIE_NAMES
from armarl.games.armada.knowledge import HELD, LACKED
from armarl.games.armada.rules.legal_orders import levies
from armarl.games.armada.rules.setup import starting_bands
from armarl.games.armada.rules.turns import IDLE_ROUNDS
from armarl.games.armada.state import (
    ANSWER_ATTACK,
    ANSWER_CARDS,
    ANSWER_DEFENCE,
    ANSWER_RAID,
    CARD_PRICE,
    CLAIM_DUE,
    COPIES,
    COUPS,
    FOUR,
    LAIR,
    MOST_FACES,
    NEW_CLAIM,
    NOBODY,
    NUMBER_BANDS,
    NUMBER_GOLD,
    ORDER,
    OVER,
    PAY_GOLD,
    PEEKING,
    PLACE_ENROLLED,
    PLACE_NATIVES,
    PLACE_RECRUITS,
    PLACE_SHIP,
    SHIP_ROOM,
    SHIPS,
    SHIPS_EACH,
    SPREAD_BANDS,
    acting_colour,
    acting_seat,
    flip_ship,
    has_ship,
)
from armarl.games.armada.text.describe import stage_name

if TYPE_CHECKING:
    from armarl.core.game import Game

_STAGES = ("preliminary", "order", "number", "place", "answer", "look", "over")
_OWNERS = (*COLOURS, "tribes")


def states_from(game: Game, view: Description, base: State) -> Iterator[State]:
    """Yield the states that a description may mean. Omitted values come from the state `base`."""
    s: Any = np.full(1, base)[0]
    _seat_players(s, view, game.players)
    _put_pieces(s, view, game.attributes["chart"].places)
    _set_turn(s, view)
    if s["cards"]:
        _deal_cards(s, view, game.players)
    for i, throw in enumerate(view.sequence("chance")[:MOST_FACES]):
        kind, face = throw if isinstance(throw, list) and len(throw) == 2 else (None, None)
        thrown = Description({"die": kind, "face": face}, f"'chance'[{i}]")
        s["die"][i] = DIE_NAMES.index(thrown.word("die", DIE_NAMES, DIE_NAMES[0]) or "")
        s["face"][i] = thrown.number("face", 0, -100)
        s["thrown"] = i + 1
    claims = _claims(view)
    for stage in _stages(s, view):
        yield from _chains(game, s, view, stage, claims)


def _seat_players(s: Any, view: Description, players: int) -> None:
    """Give the colours to the seats (ADA-9 to ADA-12)."""
    if players == 3:
        neutral = view.word("neutral", COLOURS, COLOURS[s["neutral"]])
        s["neutral"] = COLOURS.index(neutral or "")
    playing = [colour for colour in range(FOUR) if colour != s["neutral"]]
    s["seat_of"] = -1
    for k, colour in enumerate(playing):
        s["seat_of"][colour] = k % players


def _put_pieces(s: Any, view: Description, places: Sequence[str]) -> None:
    """Put all pieces on the chart, and the rest into the supplies (ADA-6)."""
    for key in ("bands", "gold", "ships", "tribes"):
        s[key] = 0
    s["owner"] = NOBODY
    for place in range(CENTRAL):
        s["owner"][place] = place // LAIR
    for name, value in view.named("territories", places[:TERRITORIES]):
        place, here = places.index(name), Description(value, f"'territories'[{name!r}]")
        owner = here.word("owner", _OWNERS)
        if "owner" in value:
            s["owner"][place] = NOBODY if owner is None else _OWNERS.index(owner)
        for key in ("bands", "gold"):
            s[key][place] = here.number(key, 0, 0, MOST_PIECES)
        tribes = here.number("tribes", 0, 0, MOST_PIECES if place >= CENTRAL else 0)
        if tribes:
            s["tribes"][place - CENTRAL] = tribes
        if here.flag("ship"):
            flip_ship(s, place)
    for name, value in view.named("ships", places[TERRITORIES:]):
        place, here = places.index(name), Description(value, f"'ships'[{name!r}]")
        colour = here.word("colour", COLOURS)
        s["owner"][place] = NOBODY if colour is None else COLOURS.index(colour)
        for key in ("bands", "gold"):
            s[key][place] = here.number(key, 0, 0, SHIP_ROOM)
        flip_ship(s, place)
    for number in range(FOUR):
        on_board = int(s["bands"][s["owner"] == number].sum())
        s["reserve"][number] = max(-1, MOST_PIECES - on_board)  # -1: `valid` refuses it
    s["supply_gold"] = max(-1, MOST_PIECES - int(s["gold"].sum()))
    s["supply_tribes"] = max(-1, MOST_PIECES - int(s["tribes"].sum()))
    s["box"] = SHIPS - sum(ships.bit_count() for ships in s["ships"].tolist())


# --- the turn ------------------------------------------------------------------------------------


def _set_turn(s: Any, view: Description) -> None:
    """Set the turn and the raid, if there is one, with their budgets."""
    told = view.part("turn")
    s["raid"] = told.flag("raid")
    turn = view.part("interrupted") if s["raid"] else told
    preliminary = told.word("stage", _STAGES) == "preliminary"
    s["turn"] = -1 if preliminary else turn.number("number", 0, 0, int(s["max_turns"]))
    playing = [colour for colour in range(FOUR) if colour != s["neutral"]]
    usual = playing[0 if preliminary else s["turn"] % len(playing)]
    budgets = [(0, turn, 0 if preliminary else COUPS)] + [(1, told, 0)] * int(s["raid"])
    for raid, budget, coups in budgets:
        s["colour"][raid] = COLOURS.index(budget.word("colour", COLOURS, COLOURS[usual]) or "")
        s["coups"][raid] = budget.number("coups", int(coups))
        s["enrolled"][raid] = budget.flag("enrolled")
        s["more_coups"][raid] = budget.flag("more_coups")


def _stages(s: Any, view: Description) -> list[int]:
    """Return the kinds of decisions that a description may mean."""
    said = view.part("turn").word("stage", _STAGES, "over" if "result" in view else "order")
    return [stage for stage in range(OVER + 1) if stage_name(stage) == said]


def _claims(view: Description) -> list[int]:
    """Return the claims (ADA-28). Without the key `new_claims`, all of them are due."""
    colours, new = view.words("claims", COLOURS), view.words("new_claims", COLOURS)
    claims = [int(CLAIM_DUE) if colour in colours else 0 for colour in COLOURS]
    return [int(NEW_CLAIM) if c in new else old for c, old in zip(COLOURS, claims, strict=True)]


# --- the open decision ---------------------------------------------------------------------------


def _chains(
    game: Game, s: Any, view: Description, stage: int, claims: Sequence[int]
) -> Iterator[State]:
    """Yield states at one kind of decision, for all values that a description omits."""
    for chain in _open_chains(game, s, view, stage):
        found: Any = np.full(1, s)[0]
        found["claims"], found["stage"] = claims, stage
        found["winner"] = found["order"] = found["origin"] = found["target"] = found["used"] = -1
        mover = int(acting_seat(found)) if stage != OVER else 0
        chosen = view.number("to_move", mover, 0, game.players - 1) if "to_move" in view else mover
        found["to_move"] = chosen
        found["asked"] = _asked(found, stage)
        for name, value in chain.items():
            found[name] = value
        yield found


def _asked(s: Any, stage: int) -> int:
    """Return the number of colours that have been asked for a raid (ADA-33)."""
    if not s["cards"] or stage < ORDER:
        return 0
    last = 1 if s["players"] == 2 else FOUR - 1
    if s["raid"]:
        return int(s["colour"][1] - s["colour"][0]) % FOUR
    if stage != ANSWER_RAID:
        return last
    steps = range(1, last + 1)
    return next((k for k in steps if s["seat_of"][(s["colour"][0] + k) % FOUR] == s["to_move"]), 0)


def _open_chains(game: Game, s: Any, view: Description, stage: int) -> Iterator[dict[str, Any]]:
    """Yield the possible fields of the open chain of decisions, for all omitted values."""
    if stage in (PLACE_SHIP, SPREAD_BANDS):
        yield from _preparations(s, stage, game.fixed)
        return
    if stage == OVER:
        yield from _endings(s, view)
        return
    pending = view.part("pending")
    if "pending" not in view or "order" not in pending:
        if stage in (ORDER, ANSWER_RAID):
            yield {}
        return
    order = pending.word("order", game.actions.texts) or ""
    chain: dict[str, Any] = {"order": game.actions.id(order)}
    words, places = order.split(), game.attributes["chart"].places
    if words[0] in ("move", "attack"):
        chain["origin"], chain["target"] = (places.index(name) for name in words[1:])
    roll = pending.sequence("roll")[-1:]
    if roll:
        chain["roll"] = Description({"roll": roll[0]}, "'pending'").number("roll", 0, -100)
    numbers = pending.sequence("numbers")
    if stage == NUMBER_BANDS and not numbers:
        yield chain
    elif stage == NUMBER_GOLD and numbers:
        first = Description({"numbers": numbers[0]}, "'pending'")
        yield chain | {"count": first.number("numbers", 1, 1, MOST_PIECES)}
    elif stage in (ANSWER_ATTACK, ANSWER_DEFENCE):
        yield chain
    elif stage == PLACE_ENROLLED:
        due = int(levies(s, acting_colour(s)))
        yield from (chain | {"due": due - k, "count": k} for k in range(due))
        yield from (chain | {"due": d, "count": k} for d in range(1, due + 1) for k in range(1, 11))
    elif stage == PAY_GOLD:
        yield from (chain | {"due": due} for due in range(int(CARD_PRICE), 0, -1))
    elif stage in (PLACE_RECRUITS, PLACE_NATIVES):
        yield from (
            chain | {"due": due, "used": used}
            for due, used in product((1, 0), (-1, *range(TERRITORIES)))
        )
    elif stage == PEEKING:
        looked = pending.words("looked", CARD_NAMES)
        top = [CARD_NAMES[card - 1] for card in s["deck"][: s["deck_size"]][::-1][: len(looked)]]
        if looked != top:
            raise ValueError(
                "'pending'['looked'] must be the first cards of 'deck', in the same order"
            )
        yield chain | {"looked": len(looked)}


def _preparations(s: Any, stage: int, fixed: Any) -> Iterator[dict[str, Any]]:
    """Yield the possible fields of the preliminary turn (ADA-13)."""
    colour = int(s["colour"][0])
    lair = slice(colour * LAIR, (colour + 1) * LAIR)
    if stage == PLACE_SHIP:
        placed = sum(int(has_ship(s, place)) for place in range(lair.start, lair.stop))
        if placed < SHIPS_EACH:
            yield {"count": placed}
        return
    due = int(starting_bands(s, np.int64(colour), fixed)) - int(s["bands"][lair].sum())
    for target in range(lair.start, lair.stop - 1):
        if not s["bands"][target : lair.stop].any():
            yield {"target": target, "due": due}


def _endings(s: Any, view: Description) -> Iterator[dict[str, Any]]:
    """Yield the possible fields of the game's end: a winner, or one of two ways to be cut short."""
    winners = view.part("result").sequence("winners")
    if winners:
        winner = Description({"winners": winners[0]}, "'result'")
        yield {"winner": winner.number("winners", 0, 0, int(s["players"]) - 1)}
        return
    yield {}
    yield {"idle": IDLE_ROUNDS * (3 if s["players"] == 3 else FOUR)}


# --- cards ---------------------------------------------------------------------------------------


def _deal_cards(s: Any, view: Description, players: int) -> None:
    """Put the cards into the hands, the deck and the played cards (ADA-32)."""
    if any(key in view for key in ("hands", "deck", "played")):
        hands = [
            Description({"hands": hand}, f"player {player}").words("hands", CARD_NAMES)
            for player, hand in enumerate(view.each("hands", players) or [[]] * players)
        ]
        played = view.words("played", CARD_NAMES)
        left = {name: int(copies) for name, copies in zip(CARD_NAMES, COPIES, strict=True)}
        for name in [*played, *(name for hand in hands for name in hand)]:
            left[name] -= 1
        deck = view.words("deck", CARD_NAMES)[: len(s["deck"])]
        if "deck" not in view:
            dealt = [CARD_NAMES[card - 1] for card in s["deck"][: s["deck_size"]][::-1]]
            dealt += [name for name in CARD_NAMES for _ in range(left[name] - dealt.count(name))]
            for name in dealt:  # in the order of the deck of `base`, then by kind
                if left[name] > 0:
                    left[name] -= 1
                    deck.append(name)
        s["deck"], s["hand"], s["played"] = 0, 0, _counts(played)
        s["deck_size"] = len(deck)
        s["deck"][: len(deck)] = [1 + CARD_NAMES.index(name) for name in deck[::-1]]
        for player, hand in enumerate(hands):
            s["hand"][player] = _counts(hand)
            s["hand_size"][player] = len(hand)
    for player, known in enumerate(view.each("known", players) or ()):
        told = Description(known, f"'known'[{player}]")
        s["remembered"][player] = _counts(told.words("in_deck", CARD_NAMES))
        for other, drawn in enumerate(told.each("drawn", players) or ()):
            s["drawn"][player, other] = Description({"drawn": drawn}, told.place).number("drawn", 0)
        names = [CARD_NAMES[card] for card in ANSWER_CARDS]
        for name, held in told.named("holds", names):
            if held is not None:
                knows = HELD if told.part("holds").flag(name) else LACKED
                s["answers"][player, names.index(name)] = knows


def _counts(names: Sequence[str]) -> list[int]:
    """Return the number of cards of each kind."""
    return [names.count(name) for name in CARD_NAMES]
