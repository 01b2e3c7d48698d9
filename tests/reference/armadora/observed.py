"""The expected observation of a seat in Armadora, computed only from its `describe`."""

from __future__ import annotations

from typing import Any

from reference.armadora.game import (
    LINES,
    MINES,
    SITES,
    SQUARES,
    allows,
    squares_of,
    territories,
    warriors_of,
)

STAGES = ["turn", "second palisade", "after power", "over"]
CHARACTERS = ["orc", "goblin", "elf", "mage"]


def observed_blocks(view: dict[str, Any], seat: int) -> dict[str, Any]:
    """Return the blocks of the observation in real units, as nested lists."""
    players, warriors = view["players"], view["warriors"]
    order = [(seat + k) % players for k in range(players)]
    inside = squares_of(_board(view))

    def at_sites(number: Any) -> list[Any]:
        return [number(warriors[site]) if site in warriors else 0 for site in SITES]

    blocks = {
        "gold": [view["gold"][mine] for mine in MINES],
        "palisades": [line in view["palisades"] for line in LINES],
        "open_lines": [
            inside.issuperset(line.split("-")) and allows(view["palisades"], line) for line in LINES
        ],
        "palisades_left": [view["palisades_left"]],
        "warriors": [at_sites(lambda w, p=p: w["player"] == p) for p in order],
        "values": at_sites(lambda w: w["value"] or 0),
        "face_up": at_sites(lambda w: w["face_up"]),
        "hand": list(view["hands"][seat].values()),
        "unseen": [_unseen(view, seat, player) for player in order],
        "hand_sizes": [view["hand_sizes"][p] for p in order],
        "passed": [view["passed"][p] for p in order],
        "to_move": [_mover(view) == p for p in order],
        "stage": [stage == view["stage"] for stage in STAGES],
        **_territory_blocks(view, order),
    }
    if view["characters"] is not None:
        blocks |= {
            "arrows": at_sites(lambda w: w["arrows"]),
            "reinforced": [at_sites(lambda w, p=p: w["reinforcement"] == p) for p in order],
            "character": [[c == view["characters"][p] for c in CHARACTERS] for p in order],
            "powers": [view["powers"][p] for p in order],
            "reinforcements": [view["reinforcements"][p] for p in order],
            "read": [[site in view["seen"][p] for site in SITES] for p in order],
        }
    return blocks


def _mover(view: dict[str, Any]) -> int | None:
    mover: int | None = view["to_move"]
    return mover


def _board(view: dict[str, Any]) -> str:
    return str(view["options"].get("board", "whole"))


def _unseen(view: dict[str, Any], seat: int, player: int) -> list[int]:
    """Return for each value the number of a player's Warriors that the seat does not see."""
    shown = [w["value"] for w in view["warriors"].values() if w["player"] == player]
    in_hand = view["hands"][seat] if player == seat else {}
    return [
        number - shown.count(value) - in_hand.get(str(value), 0)
        for value, number in warriors_of(view["players"], _board(view)).items()
    ]


def _territory_blocks(view: dict[str, Any], order: list[int]) -> dict[str, Any]:
    warriors = view["warriors"]
    inside = squares_of(_board(view))
    whole = {square: squares for squares in territories(view["palisades"]) for square in squares}

    def points(player: int, squares: set[str]) -> int:
        known = [w for w in _held(player, squares) if w["value"] is not None]
        return sum(
            max(0, w["value"] - w["arrows"] + (w["reinforcement"] is not None)) for w in known
        )

    def hidden(player: int, squares: set[str]) -> int:
        return sum(w["value"] is None for w in _held(player, squares))

    def _held(player: int, squares: set[str]) -> list[dict[str, Any]]:
        return [warriors[s] for s in squares if s in warriors and warriors[s]["player"] == player]

    return {
        "territory_size": [len(whole[s]) for s in SQUARES],
        "territory_free": [
            sum(t in SITES and t in inside and t not in warriors for t in whole[s]) for s in SQUARES
        ],
        "territory_gold": [sum(view["gold"].get(t, 0) for t in whole[s]) for s in SQUARES],
        "territory_points": [[points(p, whole[s]) for s in SQUARES] for p in order],
        "territory_hidden": [[hidden(p, whole[s]) for s in SQUARES] for p in order],
    }
