"""A turn of Armada in one sentence, from one seat's views of the positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from armarl.common.messages import listed
from armarl.core.pictures.picture import Scene
from armarl.games.armada.text.tell import amount, at, claims, found_on, more_on


@dataclass
class _Entry:
    """The effect of one or several actions of a turn.

    Attributes:
        kind: the kind of action.
        places: the places to name.
        numbers: sums over the actions, by name, such as `bands`.
        words: further words. For a fight, the name of the defender.
    """

    kind: str
    places: list[str]
    numbers: dict[str, int] = field(default_factory=dict)
    words: str = ""

    def add(self, **numbers: int) -> None:
        for name, number in numbers.items():
            self.numbers[name] = self.numbers.get(name, 0) + number


def sum_up(scenes: Sequence[Scene]) -> str:
    """Return a turn in one sentence of short phrases, followed by sentences about claims."""
    first = scenes[0]
    assert first.before is not None
    turn = first.before["turn"]
    entries: list[_Entry] = []
    for scene in scenes:
        _note(scene, turn["player"], entries)
    told = [words for entry in entries if (words := _words(entry))]
    news = " ".join(word for scene in scenes for word in claims(scene))
    who = f"{first.names[turn['player']]} ({turn['colour']})"
    return f"{who}: {', '.join(told) or 'nothing'}.{news and ' '}{news}"


def _note(scene: Scene, player: int, entries: list[_Entry]) -> None:
    """Record an action's effects in the last entry if they belong there, else in a new one."""
    assert scene.last
    assert scene.before is not None
    seat, notation = scene.last
    pending = scene.before["pending"]
    name, *rest = notation.split()
    order, *ends = (notation if pending is None else pending["order"]).split()
    if order == "attack":
        _fight(scene, name, ends, entries)
    if seat != player and name == "play":
        entries.append(_Entry("answer", [], {}, f"{scene.names[seat]} played {rest[0]}"))
    elif name == "count" and scene.before["turn"]["stage"] == "preliminary":
        colour = scene.before["turn"]["colour"]
        lost = scene.before["reserve"][colour] - scene.view["reserve"][colour]
        _entry(entries, "spread", []).add(bands=lost or int(rest[0]))
    elif name in ("move", "count", "gold"):
        if scene.view["turn"]["stage"] != "number":
            _move(scene, ends, entries)
    elif name in ("launch", "sail"):
        _sail(name, rest, entries)
    elif name == "explore" or notation.startswith("play discovery "):
        words = f"({found_on(scene, rest[-1])})"
        entries.append(_Entry("explore", [rest[-1]], {}, words))
    elif name in ("convert", "levy", "rise"):
        kind = "tribes" if name == "rise" else "bands"
        _entry(entries, name, rest[-1:]).add(**{kind: more_on(scene, rest[-1], kind)}, times=1)
    elif name in ("ship", "buy", "peek"):
        _entry(entries, name, rest).add(times=1)
    elif name == "play":
        on = f" on {rest[-1]}" if len(rest) > 1 else ""
        entries.append(_Entry("answer", [], {}, f"played {rest[0]}{on}"))
    elif name == "scuttle":
        entries.append(_Entry("answer", [], {}, f"scuttled (sank) the ship on {rest[0]}"))


def _entry(entries: list[_Entry], kind: str, places: list[str]) -> _Entry:
    """Return the last entry if it is of this kind, else a new entry, with the places added."""
    if not entries or entries[-1].kind != kind:
        entries.append(_Entry(kind, []))
    entries[-1].places += [place for place in places if place not in entries[-1].places]
    return entries[-1]


def _fight(scene: Scene, name: str, ends: list[str], entries: list[_Entry]) -> None:
    """Add a roll, or the effect of an answer to a roll, to the fight for a place."""
    assert scene.before is not None
    origin, target = ends
    fights = [one for one in entries if one.kind == "fight" and one.places == [target]]
    if not fights:
        fights = [_Entry("fight", [target])]
        entries += fights
    last = fights[-1]
    last.add(
        rolls=int(name == "attack"),
        lost=-more_on(scene, origin, "bands"),
        beaten=-more_on(scene, target, "bands") - more_on(scene, target, "tribes"),
    )
    before, now = at(scene.before, target), at(scene.view, target)
    if owner := before["colour"] or ("the tribes" if before["tribes"] else ""):
        last.words = owner
    last.numbers["won"] = int(not now["bands"] and not now["tribes"])


def _move(scene: Scene, ends: list[str], entries: list[_Entry]) -> None:
    """Add a move of bands and gold. A second move between the same places extends the entry."""
    assert scene.before is not None
    origin, target = ends
    last = entries[-1] if entries else None
    if last is None or last.kind != "move" or last.places != [origin, target]:
        last = _Entry("move", [origin, target])
        entries.append(last)
    last.add(bands=-more_on(scene, origin, "bands"), gold=-more_on(scene, origin, "gold"))
    old, new = (at(view, target)["owner"] for view in (scene.before, scene.view))
    if target in scene.view["territories"] and new != old:
        there = int(at(scene.before, target)["gold"])
        gold = f" with {there} gold" if there else ""
        last.words = f"taking it{gold}" + (f" from {old}" if old not in (None, "tribes") else "")


def _sail(name: str, ends: list[str], entries: list[_Entry]) -> None:
    """Add a launch or a voyage. Sailing on with the ship of the last entry extends that entry."""
    last = entries[-1] if entries else None
    if last and last.kind in ("launch", "sail") and last.places[-1] == ends[0] and name == "sail":
        last.places.append(ends[1])
    else:
        entries.append(_Entry(name, ends))


def _words(entry: _Entry) -> str:
    """Return an entry in words."""
    places, numbers = entry.places, entry.numbers
    where = listed(places)
    if entry.kind in ("launch", "sail"):
        verb = "launched a ship" if entry.kind == "launch" else "sailed"
        return f"{verb} from {places[0]} to {places[-1]}"
    if entry.kind == "fight":
        return " ".join(_fought(entry, where))
    if entry.kind == "move":
        gold = f" and {numbers['gold']} gold" if numbers["gold"] else ""
        words = f"moved {amount(numbers['bands'], 'band')}{gold} from {places[0]} to {places[1]}"
        return words + (f" ({entry.words})" if entry.words else "")
    bands, times = numbers.get("bands", 0), numbers.get("times", 0)
    return {
        "answer": entry.words,
        "explore": f"explored {where} {entry.words}",
        "spread": f"spread {amount(bands, 'band')} over its lair",
        "ship": f"put {amount(times, 'ship')} on {where}",
        "convert": f"turned {times} gold into {amount(bands, 'band')} on {where}",
        "levy": f"put {amount(bands, 'band')} on {where}",
        "rise": f"put {amount(numbers.get('tribes', 0), 'tribe')} on {where}",
        "buy": f"bought {amount(times, 'card')}",
        "peek": f"looked at {amount(times, 'card')}",
    }[entry.kind]


def _fought(entry: _Entry, where: str) -> Iterator[str]:
    numbers = entry.numbers
    against = f" against {entry.words}" if entry.words else ""
    yield f"{'won the fight' if numbers['won'] else 'fought'} for {where}{against}"
    yield f"({amount(numbers['rolls'], 'roll')}, {numbers['beaten']} fell, lost {numbers['lost']})"
