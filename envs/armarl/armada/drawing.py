"""Armada as a picture of text: a list of the lairs, the central group and the ships."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarl.armada.chart import COLOURS
from armarl.armada.describe import describe

if TYPE_CHECKING:
    from armarl.game import Game, State

LETTERS = {"green": "g", "raspberry": "r", "blue": "b", "orange": "o", "tribes": "t"}


def draw(game: Game, state: State, seat: int | None) -> str:
    """What stands where, group by group, and whose turn it is.

    A territory is its name, its owner's letter (`g r b o`, `t` for tribes, `?` unexplored), then
    bands, tribes `*2`, gold `$1` and `S` for a ship. `city` and post names follow.
    """
    view = describe(game, state, seat)
    lines = [_lair(game, view, lair) for lair in (*COLOURS, "central")]
    ships = [f"{square}:{_ship(ship)}" for square, ship in view["ships"].items()]
    lines.append("at sea     " + ("  ".join(ships) or "-"))
    return "\n".join(lines + _captions(view))


def _lair(game: Game, view: dict[str, Any], lair: str) -> str:
    entries = []
    for t in game.board.territories:
        if t.lair == lair:
            mark = " city" if t.city else f" {t.post}" if t.post else ""
            entries.append(f"{t.name}:{_territory(view['territories'][t.name])}{mark}")
    rows = [entries[i : i + 7] for i in range(0, len(entries), 7)]
    return "\n".join(f"{lair if i == 0 else '':10} " + "  ".join(row) for i, row in enumerate(rows))


def _territory(t: dict[str, Any]) -> str:
    if not t["explored"]:
        return "?"
    text = LETTERS[t["owner"]] + (str(t["bands"]) if t["bands"] else "")
    text += f"*{t['tribes']}" if t["tribes"] else ""
    return text + (f"${t['gold']}" if t["gold"] else "") + ("S" if t["ship"] else "")


def _ship(ship: dict[str, Any]) -> str:
    crew = f"{LETTERS[ship['colour']]}{ship['bands']}" if ship["colour"] else "empty"
    return crew + (f"${ship['gold']}" if ship["gold"] else "")


def _captions(view: dict[str, Any]) -> list[str]:
    turn, supply = view["turn"], view["supply"]
    what = "raid" if turn["raid"] else "turn"
    lines = [
        f"{turn['colour']}'s {what} (player {turn['player']}), {turn['coups']} coups left; "
        f"{turn['stage']}",
        f"supply: {supply['gold']} gold, {supply['tribes']} tribes, {view['box']} ships; reserve: "
        + ", ".join(f"{colour} {n}" for colour, n in view["reserve"].items()),
    ]
    if view["claims"]:
        lines.append("victory claimed by " + ", ".join(view["claims"]))
    if view["pending"]:
        lines.append("under way: " + ", ".join(f"{k} {v}" for k, v in view["pending"].items()))
    if view["options"]["cards"]:
        hands = [hand if hand is not None else "?" for hand in view["hands"]]
        lines.append(f"hands {hands}, sizes {view['hand_sizes']}, deck {view['deck_size']}")
    if view["result"]:
        won = view["result"]["winners"]
        lines.append(f"player {won[0]} has won" if won else "nobody has won")
    return lines
