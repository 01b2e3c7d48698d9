"""An action of Armadora and its effects in words.

The functions read `scene.view` and `scene.before`, which are descriptions of the position after and
before the action, as one seat sees the game (see `describe`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from armarl.common.messages import counted, listed
from armarl.core.pictures.picture import Scene, Told
from armarl.games.armadora.text.territories import Territory, territories, won_by_piles

View = dict[str, Any]


def tell(scene: Scene) -> Told:
    """Return the last action and its effects in words, with the result if the game has ended."""
    assert scene.last
    assert scene.before is not None
    seat, notation = scene.last
    words = [f"{scene.names[seat]} {deed(scene, seat, notation)}."]
    words += walled(scene)
    if scene.before["passed"][seat] is False and scene.view["passed"][seat]:
        rest = [n for n, done in zip(scene.names, scene.view["passed"], strict=True) if not done]
        words += [f"Still playing: {listed(rest)}."] if rest else []
    over = scene.view["result"] is not None
    result = tuple(_end(scene)) if over else ()
    ends_turn = over or scene.view["stage"] == "turn"
    return Told((*words, *result), None, ends_turn, result)


def deed(scene: Scene, seat: int, notation: str) -> str:
    """Return an action in words. Examples of `notation` are `W3 c4`, `W? c4` and `goblin W2 c4`."""
    first, *rest = notation.split()
    place = rest[-1] if rest else ""
    if first in ("P", "orc"):
        power = "as the Orc " if first == "orc" else ""
        left = scene.view["palisades_left"]
        return f"{power}places a palisade on {place}, {left} left"
    if first == "goblin":
        return f"as the Goblin lays a Warrior of value {rest[0][1:]} face up on {place}"
    if first == "elf":
        arrows = scene.view["warriors"][place]["arrows"]
        return f"as the Elf shoots {_whose(scene, place)} on {place}" + " again" * (arrows > 1)
    if first == "mage":
        value = scene.view["warriors"][place]["value"]
        reads = "" if value is None else f": it has value {value}"
        return f"as the Mage looks at {_whose(scene, place)} on {place}{reads}"
    if first == "R":
        return f"reinforces its own Warrior on {place}"
    if first == "pass":
        return "passes for the rest of the game"
    if first == "stop":
        return "places no second palisade"
    value = "" if first == "W?" else f" of value {first[1:]}"
    return f"lays a Warrior{value} face down on {place}"


def _whose(scene: Scene, place: str) -> str:
    return f"the Warrior of {scene.names[scene.view['warriors'][place]['player']]}"


def walled(scene: Scene) -> Iterator[str]:
    """Yield a sentence about the new territories, if a new palisade has divided a territory."""
    assert scene.before is not None
    if scene.before["palisades"] == scene.view["palisades"]:
        return
    old = {land.squares for land in territories(scene.before, scene.game.sides)}
    new = [land for land in territories(scene.view, scene.game.sides) if land.squares not in old]
    if new:
        sizes = " and ".join(_land(scene.view, land) for land in new)
        yield f"The palisade divides the land: {sizes}."


def _land(view: View, land: Territory) -> str:
    return f"{len(land.squares)} squares around {land.squares[0]} with {_gold(view, land)} gold"


def _gold(view: View, land: Territory) -> int:
    return sum(view["gold"].get(name, 0) for name in land.squares)


def _end(scene: Scene) -> Iterator[str]:
    """Yield the result in words: the gold of each territory (ARM-16 to ARM-19), and the winners."""
    view = scene.view
    yield "All Warriors are turned face up."
    for land in territories(view, scene.game.sides):
        if gold := _gold(view, land):
            where = f"The territory of {_land(view, land)}"
            if not land.best:
                yield f"{where} is nobody's."
                continue
            first = land.best if land.leader is None else (land.leader,)
            rest = [
                f"{mine} of {_side(scene, side)}"
                for side, mine in enumerate(land.points)
                if mine and side not in first
            ]
            extra = " and a reinforcement" if land.by_reinforcement else ""
            most = counted(max(land.points), "point")
            points = f"({most}{extra}{' against ' * bool(rest)}{listed(rest)})"
            takers = listed([_side(scene, side) for side in first])
            if land.leader is not None:
                yield f"{where} goes to {takers} {points}."
            else:
                yield f"{where} is tied {points}: {gold // len(first)} gold each for {takers}."
    result = view["result"]
    totals = ", ".join(f"{n} for {_side(scene, side)}" for side, n in enumerate(result["gold"]))
    winners = listed([_side(scene, side) for side in result["winners"]])
    won = "wins" if len(result["winners"]) == 1 else "share the victory"
    piles = " by larger piles (ARM-19)" if won_by_piles(result) else ""
    yield f"Gold: {totals}. {winners} {won}{piles}."


def _side(scene: Scene, side: int) -> str:
    return " with ".join(
        name for name, own in zip(scene.names, scene.game.sides, strict=True) if own == side
    )
