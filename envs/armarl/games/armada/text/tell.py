"""An action of Armada and its effects in words, from one seat's views before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from armarl.common.messages import listed
from armarl.core.pictures.picture import Scene, Told
from armarl.games.armada.chart.geography import POSTS, Chart
from armarl.games.armada.rules.scoring import CITIES_ASKED, POSTS_ASKED
from armarl.games.armada.state import LAIR_HELD
from armarl.games.armada.text.claims import claim_in_words
from armarl.games.armada.text.holdings import holdings

View = dict[str, Any]
_EMPTY = {"owner": None, "colour": None, "bands": 0, "tribes": 0, "gold": 0}


def tell(scene: Scene) -> Told:
    """Return the last action and its effects in words: dice, losses, claims, the game's end."""
    assert scene.last
    assert scene.before is not None
    words = [
        _deed(scene),
        *_dice(scene),
        *_losses(scene),
        *_cards(scene),
        *claims(scene),
        *_next(scene),
    ]
    outcome = scene.view["result"]
    result = () if outcome is None else (_outcome(scene, outcome["winners"]),)
    heading = _heading(scene.before)
    ends_turn = outcome is not None or heading != _heading(scene.view)
    return Told((*words, *result), heading, ends_turn, result)


def _heading(before: View) -> str:
    """Return the heading of the turn in which an action was played."""
    turn = before["turn"]
    if turn["stage"] == "preliminary":
        return f"{turn['colour']} sets out"
    if turn["raid"]:
        return f"turn {before['interrupted']['number'] + 1}, raid of {turn['colour']}"
    return f"turn {turn['number'] + 1}, {turn['colour']}"


# --- the action ----------------------------------------------------------------------------------


def _deed(scene: Scene) -> str:
    """Return the player's action in words, from its notation and the changes of the view."""
    assert scene.last
    assert scene.before is not None
    seat, notation = scene.last
    first, *rest = notation.split()
    name = scene.names[seat]
    if first in ("count", "gold", "move", "levy", "rise", "pay", "play", "decline"):
        return f"{name} {_DEEDS[first](scene, rest)}."
    if first == "end":
        return f"{name} ends the {'raid' if scene.before['turn']['raid'] else 'turn'}."
    if first == "attack":
        return f"{name} attacks {_who(scene.before, rest[1])} on {rest[1]} from {rest[0]}."
    if first == "explore":
        return f"{name} explores {rest[0]} and finds {found_on(scene, rest[0])}."
    if first == "convert":
        bands = more_on(scene, rest[0], "bands")
        return f"{name} converts 1 gold on {rest[0]} into {amount(bands, 'band')}."
    plain = {
        "ship": "puts a ship on {0}",
        "launch": "launches the ship of {0} to {1}",
        "sail": "sails from {0} to {1}",
        "scuttle": "scuttles the ship on {0}",
        "enrol": "enrols bands",
        "buy": "buys a card",
        "peek": "looks at the next card",
        "take": "takes the last card looked at, and the deck is shuffled",
    }
    return f"{name} {plain[first].format(*rest)}."


def _numbers(scene: Scene, rest: list[str]) -> str:
    """Return the action `count` or `gold` in words."""
    assert scene.before is not None
    assert scene.last
    if scene.before["turn"]["stage"] == "preliminary":
        put = [
            f"{amount(more, 'band')} on {place}"
            for place in scene.view["territories"]
            if (more := more_on(scene, place, "bands")) and _lair_of(scene, place)
        ]
        return f"puts {listed(put)}" if put else "leaves its next territory without bands"
    origin, target = scene.before["pending"]["order"].split()[1:]
    if scene.view["turn"]["stage"] == "number":
        return f"chooses {amount(int(rest[0]), 'band')} to move from {origin} to {target}"
    return _moved(scene, origin, target)


def _lair_of(scene: Scene, place: str) -> bool:
    """Return whether a place belongs to the colour whose preliminary turn it is."""
    assert scene.before is not None
    return bool(at(scene.view, place)["owner"] == scene.before["turn"]["colour"])


def _move(scene: Scene, rest: list[str]) -> str:
    origin, target = rest
    if scene.view["turn"]["stage"] == "number":
        return f"moves from {origin} to {target}"
    return _moved(scene, origin, target)


def _moved(scene: Scene, origin: str, target: str) -> str:
    """Return a completed move in words, with the new owner of the land if the owner changed."""
    assert scene.before is not None
    bands, gold = -more_on(scene, origin, "bands"), -more_on(scene, origin, "gold")
    moved = amount(bands, "band") + (f" and {gold} gold" if gold else "")
    text = f"moves {moved} from {origin} to {target}"
    old, new = (at(view, target)["owner"] for view in (scene.before, scene.view))
    if target in scene.view["territories"] and new != old:
        text += f", which is now {new}'s"
    return text


def _levy(scene: Scene, rest: list[str]) -> str:
    return f"puts {amount(more_on(scene, rest[0], 'bands'), 'band')} on {rest[0]}"


def _rise(scene: Scene, rest: list[str]) -> str:
    return f"puts {amount(more_on(scene, rest[0], 'tribes'), 'tribe')} on {rest[0]}"


def _pay(scene: Scene, rest: list[str]) -> str:
    return f"pays 1 gold from {rest[0]}"


def _play(scene: Scene, rest: list[str]) -> str:
    card, place = rest[0], rest[-1]
    plays = f"plays {card}"
    if len(rest) == 1:
        return f"{plays}: 3 coups more" if card == "more-coups" else plays
    if card == "gold-mine":
        return f"{plays}: {more_on(scene, place, 'gold')} gold on {place}"
    if card == "discovery":
        return f"{plays}, explores {place} and finds {found_on(scene, place)}"
    return f"{plays} on {place}"


def _decline(scene: Scene, rest: list[str]) -> str:
    return "declines"


_DEEDS = {
    "count": _numbers,
    "gold": _numbers,
    "move": _move,
    "levy": _levy,
    "rise": _rise,
    "pay": _pay,
    "play": _play,
    "decline": _decline,
}


def found_on(scene: Scene, place: str) -> str:
    """Return the find of an exploration in words."""
    here = at(scene.view, place)
    return f"{here['gold']} gold and {amount(here['tribes'], 'tribe')}"


def _who(view: View, place: str) -> str:
    """Return the bands or tribes on a place in words, with the colour of bands."""
    here = at(view, place)
    if here["bands"]:
        return f"{amount(here['bands'], 'band')} of {here['colour']}"
    return amount(here["tribes"], "tribe")


# --- the effects ---------------------------------------------------------------------------------


def _dice(scene: Scene) -> Iterator[str]:
    thrown = [
        (amount(face, "hit") if face >= 0 else amount(-face, "loss", "losses"))
        if kind == "combat"
        else f"{kind} {face}"
        for kind, face in scene.view["chance"]
    ]
    if thrown:
        yield f"Dice: {', '.join(thrown)}."


def _losses(scene: Scene) -> Iterator[str]:
    """Yield the losses of a fight if the action completed one: an attack, or the last answer."""
    assert scene.last
    assert scene.before is not None
    pending = scene.before["pending"]
    order = (scene.last[1] if pending is None else pending["order"]).split()
    if order[0] != "attack" or scene.view["pending"] is not None:
        return
    lost = []
    for place in order[1:]:
        old = at(scene.before, place)
        if bands := -more_on(scene, place, "bands"):
            lost.append(f"{old['colour']} loses {amount(bands, 'band')} on {place}")
        if tribes := -more_on(scene, place, "tribes"):
            lost.append(f"{amount(tribes, 'tribe')} on {place} fall")
    fight = listed(lost) if lost else "nobody falls"
    yield fight[0].upper() + fight[1:] + "."


def _cards(scene: Scene) -> Iterator[str]:
    """Yield the cards drawn (by name if the seat may see them), and the card looked at."""
    assert scene.before is not None
    for player, size in enumerate(scene.view["hand_sizes"]):
        if size > scene.before["hand_sizes"][player]:
            old, new = scene.before["hands"][player], scene.view["hands"][player]
            drawn = "a card"
            if old is not None and new is not None:
                drawn = listed(
                    [card for card in dict.fromkeys(new) if new.count(card) > old.count(card)]
                )
            yield f"{scene.names[player]} draws {drawn}."
    pending = scene.view["pending"]
    if pending and pending.get("looked"):
        yield f"The card is {pending['looked'][-1]}."


def claims(scene: Scene) -> Iterator[str]:
    """Yield the claims of victory that an action began or ended."""
    assert scene.before is not None
    old, new = scene.before["claims"], scene.view["claims"]
    yield from (claim_in_words(colour) for colour in new if colour not in old)
    if scene.view["result"] is None:
        yield from (f"{_capital(c)}'s claim is withdrawn." for c in old if c not in new)


def _next(scene: Scene) -> Iterator[str]:
    """Yield a sentence about the next player if a turn, a raid or a question begins."""
    assert scene.before is not None
    view, before = scene.view, scene.before
    if view["result"] is not None:
        return
    turn, old = view["turn"], before["turn"]
    mover = scene.names[view["to_move"]]
    if turn["raid"] and not old["raid"]:
        yield f"{mover} raids with {turn['colour']}."
    elif (turn["colour"], turn["number"]) != (old["colour"], old["number"]) and not old["raid"]:
        yield f"{_capital(turn['colour'])}'s turn begins ({mover})."
    elif view["to_move"] != before["to_move"] and turn["stage"] == "answer":
        yield f"{mover} is asked for a card."


def _outcome(scene: Scene, winners: list[int]) -> str:
    """Return the result and its reason in words, so that a newcomer learns the aim of the game."""
    if not winners:
        return "The game is cut short (ADA-26, ADA-30), and nobody has won."
    name = listed([scene.names[winner] for winner in winners])
    if reasons := _fulfilled(scene):
        return (
            f"{name} wins: {scene.view['turn']['colour']} claimed victory, and one turn later "
            f"still owns {reasons} (ADA-27, ADA-28)."
        )
    return f"{name} wins: the others have nothing left to play with (ADA-29)."


def _fulfilled(scene: Scene) -> str:
    """Return in words why a claim won the game, or "" if the game ended by ADA-29.

    A claim is judged only when its colour's turn ends. Turns in which the colour can do nothing
    end at once (ADA-26), so the last action can end several turns. After the first of them, only a
    claim can win.
    """
    assert scene.before is not None
    turn, before = scene.view["turn"], scene.before
    ended = turn["number"] - (before["turn"]["number"] or 0)
    was_due = turn["colour"] in before["claims"] and turn["colour"] not in before["new_claims"]
    return _victory(scene, turn["colour"]) if ended > 1 or (ended and was_due) else ""


def _victory(scene: Scene, colour: str) -> str:
    """Return the reasons why a colour is in victory (ADA-27) in words, or "" if it is not."""
    chart: Chart = scene.game.attributes["chart"]
    own = holdings(scene.view, chart, colour)
    if own.in_lair < LAIR_HELD:
        return ""
    lair = f"{own.in_lair} territories of the {own.lair} lair"
    if POSTS[0] in own.posts and len(own.posts) >= POSTS_ASKED:
        return f"{lair} and {len(own.posts)} trading posts, the Centre among them"
    return f"{lair} and {own.cities} cities in enemy lairs" if own.cities >= CITIES_ASKED else ""


# --- words ---------------------------------------------------------------------------------------


def at(view: View, place: str) -> dict[str, Any]:
    """Return the owner and the pieces of a territory or a ship."""
    found = view["territories"].get(place)
    if found is None:
        ship = view["ships"].get(place, {})
        found = {**_EMPTY, **ship, "owner": ship.get("colour")}
    return dict(found)


def more_on(scene: Scene, place: str, key: str) -> int:
    """Return the change of the number of pieces of a kind on a place by the last action."""
    assert scene.before is not None
    return int(at(scene.view, place)[key]) - int(at(scene.before, place)[key])


def amount(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun. The number 0 is written "no"."""
    return f"{n or 'no'} {one if n == 1 else many or one + 's'}"


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
