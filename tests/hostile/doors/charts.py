"""Fuzzer of Armada charts: texts, mappings and JSON from untrusted sources."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from armarl.games.armada.chart.loading import STANDARD, load_chart
from armarl.games.make_game import make_game
from doors import refused

ODD = (None, True, "green", "central", "Centre", [], "G1", "\x1b[2J", "a\nb")


def prepare_charts() -> None:
    game = make_game("armada", max_turns=6)
    played = game.new_states(1)
    game.playouts(played, np.arange(1))
    game.check_states(played)


def charts(rng: np.random.Generator) -> str:
    """Damage a chart as text, mapping or JSON. If the chart is accepted, play a game on it."""
    chosen: Any
    if rng.integers(2):
        chosen = _spoilt_text(STANDARD.read_text(encoding="utf-8"), rng)
    else:
        chosen = json.loads(json.dumps(load_chart().as_dict()))
        for _ in range(rng.integers(1, 4)):
            _spoil_mapping(chosen, rng)
    try:
        game = make_game("armada", chart=chosen, max_turns=6)
    except (ValueError, OSError) as error:
        return refused(error)
    played = game.new_states(1)
    game.playouts(played, np.arange(1))
    game.check_states(played)
    return "accepted"


def _spoilt_text(text: str, rng: np.random.Generator) -> str:
    for _ in range(rng.integers(1, 6)):
        lines = text.splitlines()
        at, kind = int(rng.integers(len(lines))), int(rng.integers(5))
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[rng.integers(len(lines))])
        elif kind == 2 and lines[at]:
            place = int(rng.integers(len(lines[at])))
            letter = ".-:~abABZ# \x00\u00e9\x1b"[rng.integers(14)]
            lines[at] = lines[at][:place] + letter + lines[at][place + 1 :]
        elif kind == 3:
            lines.append(f"join s{rng.integers(70)} G{rng.integers(9)}")
        else:
            lines.append(f"part s{rng.integers(70)} s{rng.integers(70)}")
        text = "\n".join(lines)
    return text + "\n"


def _spoil_mapping(chart: dict[str, Any], rng: np.random.Generator) -> None:
    key = ("territories", "sea", "borders")[rng.integers(3)]
    part = chart[key]
    at, kind = int(rng.integers(len(part))) if part else 0, int(rng.integers(5))
    names = [t.get("name", "G1") for t in chart["territories"] if isinstance(t, dict)]
    names += [name for name in chart["sea"] if isinstance(name, str)]
    if kind == 0 and part:
        del part[at]
    elif kind == 1:
        part.append([None, 7, [], {}, "x", ["G1"], ["G1", "G1"], "\x1b[2J"][rng.integers(8)])
    elif kind == 2 and len(names) > 1:
        chart["borders"].append([names[rng.integers(len(names))], names[rng.integers(len(names))]])
    elif kind == 3 and part and isinstance(part[at], dict):
        field = ("name", "lair", "island", "city", "post")[rng.integers(5)]
        part[at][field] = ODD[rng.integers(len(ODD))]
    else:
        for city in [
            t["name"] for t in chart["territories"] if isinstance(t, dict) and t.get("city")
        ]:
            for name in names[52 : 52 + int(rng.integers(20))]:
                chart["borders"].append([city, name])
