"""The expected observation in Armada, computed only from the result of `describe` and the chart."""

from __future__ import annotations

from typing import Any

from reference.armada.board import CARDS, COLOURS
from reference.armada.game import Armada

STAGES = [
    "place ship",
    "spread bands",
    "order",
    "number of bands",
    "number of gold",
    "place enrolled band",
    "pay gold",
    "place recruits",
    "place natives",
    "answer with attack",
    "answer with defence",
    "answer with raid",
    "look",
    "over",
]


def observed_blocks(view: dict[str, Any], seat: int, game: Armada) -> dict[str, Any]:
    """Return the blocks of the observation in real units, as nested lists.

    `view` is the whole description. `game` provides the chart and values that a description lacks:
    the count of ADA-26, and details of the current chain (the decisions that make one order).
    """
    lands, ships, turn = view["territories"], view["ships"], view["turn"]
    nothing = {"colour": None, "bands": 0, "gold": 0}
    places = {name: lands.get(name) or ships.get(name, nothing) for name in game.near}
    central = [land for name, land in lands.items() if game.is_central(name)]
    own = perspective(view, seat, game)
    colours = [COLOURS[(COLOURS.index(own) + k) % 4] for k in range(4)]
    seats = [(seat + k) % view["players"] for k in range(view["players"])]
    owned = {c: {name for name, land in lands.items() if land["owner"] == c} for c in colours}
    cities = {name for name, land in game.chart.items() if land["city"]}
    posts = {name for name, land in game.chart.items() if land["post"]}
    lairs = {c: set(game.lair(c)) for c in COLOURS}
    enemy_lairs = {
        c: [lair for lair in COLOURS if game.player_of.get(lair) != game.player_of.get(c)]
        for c in colours
    }
    enemy_cities = {
        c: sum(len(owned[c] & cities & lairs[lair]) for lair in enemy_lairs[c]) for c in colours
    }
    hold = {c: any(len(owned[c] & lairs[lair]) >= 4 for lair in COLOURS) for c in colours}
    by_posts = {
        c: len(owned[c] & posts) >= 3
        and any(game.chart[name]["post"] == "Centre" for name in owned[c])
        for c in colours
    }
    bands = {c: [h["bands"] if h["colour"] == c else 0 for h in places.values()] for c in colours}
    stage = stage_name(view)
    blocks = {
        "bands": [bands[c] for c in colours],
        "owner": [[name in owned[c] for name in lands] for c in colours],
        "gold": [here["gold"] for here in places.values()],
        "ship": [name in ships or lands.get(name, {}).get("ship", False) for name in places],
        "explored": [land["explored"] for land in central],
        "tribes_own": [land["owner"] == "tribes" for land in central],
        "tribes": [land["tribes"] for land in central],
        "reserve": [50 - sum(bands[c]) for c in colours],
        "claim": [(c in view["claims"]) * (1 if c in game.laid_this_turn else 2) for c in colours],
        "victory": [hold[c] and (by_posts[c] or enemy_cities[c] >= 4) for c in colours],
        "lairs": [[len(owned[c] & lairs[lair]) for lair in COLOURS] for c in colours],
        "cities": [[len(owned[c] & cities & lairs[lair]) for lair in COLOURS] for c in colours],
        "enemy_cities": [enemy_cities[c] for c in colours],
        "posts": [len(owned[c] & posts) for c in colours],
        "central": [sum(game.is_central(name) for name in owned[c]) for c in colours],
        "supply": [view["supply"]["gold"], view["supply"]["tribes"], view["box"]],
        "colour": [c == own for c in COLOURS],
        "neutral": [c == view["neutral"] for c in colours],
        "acting": [c == turn["colour"] for c in colours],
        "turn": [c == (view["interrupted"] or turn)["colour"] for c in colours],
        "to_move": [player == view["to_move"] for player in seats],
        "stage": [name == stage for name in STAGES],
        "coups": [turn["coups"], (view["interrupted"] or {"coups": 0})["coups"]],
        "raid": [turn["raid"]],
        "enrolled": [turn["enrolled"]],
        "more_coups": [turn["more_coups"]],
        "turns_left": [view["options"]["max_turns"] - (turn["number"] or 0)],
        "idle": [game.idle_turns],
        **_chain_blocks(view, list(places), list(lands), game),
    }
    return blocks | (_card_blocks(view, seat, seats) if view["options"]["cards"] else {})


def perspective(view: dict[str, Any], seat: int, game: Armada) -> str:
    """Return the colour from whose view a seat observes: the first of `colours` in the blocks.

    This is the deciding colour if it belongs to the seat, otherwise the seat's next colour in play
    order.
    """
    turn, stage = view["turn"], stage_name(view)

    def following(colour: str, player: int) -> str:
        here = COLOURS.index(colour)
        later = [COLOURS[(here + k) % 4] for k in range(4)]
        return next(c for c in later if game.player_of.get(c) == player)

    if stage == "answer with raid":
        return following(following(turn["colour"], view["to_move"]), seat)
    if stage == "answer with defence" and seat == view["to_move"]:
        attacked: str = game.at(view["pending"]["order"].split()[2])["colour"]
        return attacked
    return following(turn["colour"], seat)


def stage_name(view: dict[str, Any]) -> str:
    """Return the stage by its name in the observation, which has more stages than `view`."""
    stage: str = view["turn"]["stage"]
    words = {text.split()[0] for text in view["legal"]}
    if stage == "preliminary":
        return "place ship" if "ship" in words else "spread bands"
    if stage == "number":
        return "number of bands" if "count" in words else "number of gold"
    if stage == "place":
        levy = "place enrolled band" if view["pending"]["order"] == "enrol" else "place recruits"
        return {"pay": "pay gold", "rise": "place natives", "levy": levy}[words.pop()]
    if stage == "answer":
        (card,) = (text.split()[1] for text in view["legal"] if text != "decline")
        return f"answer with {card}"
    return stage


def _chain_blocks(
    view: dict[str, Any], places: list[str], lands: list[str], game: Armada
) -> dict[str, Any]:
    pending, detail = view["pending"] or {}, game.detail
    die, face = pending.get("roll", ("none", 0))
    verb, *words = pending.get("order", "none").split()
    origin, target = words if verb in ("move", "attack") else (None, detail.get("target"))
    return {
        "origin": [name == origin for name in places],
        "target": [name == target for name in places],
        "used": [name == detail.get("used") for name in lands],
        "count": [detail.get("count", 0)],
        "due": [detail.get("due", 0)],
        "hits": [max(face, 0) if die == "combat" else 0],
        "losses": [max(-face, 0) if die == "combat" else 0],
        "rolled": [face if die == "tribes" else 0],
    }


def _card_blocks(view: dict[str, Any], seat: int, seats: list[int]) -> dict[str, Any]:
    looked = (view["pending"] or {}).get("looked", []) if seat == view["to_move"] else []
    holds = [view["known"][player]["holds"].values() for player in seats]
    return {
        "hand": [view["hands"][seat].count(card) for card in CARDS],
        "played": [view["played"].count(card) for card in CARDS],
        "looked": [looked.count(card) for card in CARDS],
        "offered": [card in looked[-1:] for card in CARDS],
        "hand_sizes": [view["hand_sizes"][player] for player in seats],
        "deck_size": [view["deck_size"]],
        "peeked": [len((view["pending"] or {}).get("looked", []))],
        "remembered": [view["known"][seat]["in_deck"].count(card) for card in CARDS],
        "drawn": [view["known"][seat]["drawn"][player] for player in seats],
        "held": [[held is True for held in row] for row in holds],
        "lacked": [[held is False for held in row] for row in holds],
    }
