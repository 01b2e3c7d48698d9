"""Whole games and random positions of Armada agree with the slow reference at every decision.

At every decision, the mask contains the legal actions of the reference, `describe` is equal to its
view, and pieces and cards are conserved. At a sample of the decisions, illegal actions change no
byte, and the observation, mask, description, picture and concealed record of a seat contain no
hidden information.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest

from armarl.games.armada.chart.loading import load_chart
from armarl.games.make_game import make_game
from reference.armada.board import CARDS, COLOURS
from reference.armada.checks import VARIANTS, check_games, variant_name

EVERY_VARIANT = pytest.mark.parametrize("variant", VARIANTS, ids=variant_name)

ORDERS = {"launch", "sail", "move", "attack", "explore", "ADA-15: ended by itself"}
CORNERS = {
    "ADA-6: fewer bands than wanted",
    "ADA-6: fewer tribes than wanted",
    "ADA-6: less gold than wanted",
    "ADA-11: own second colour's flag",
    "ADA-12: nobody's bands lost",
    "ADA-21: double at the Centre",
    "ADA-22: excess is void",
    "ADA-26: idle turn",
    "ADA-27: by posts",
    "ADA-27: by cities",
    "ADA-28: claim",
    "ADA-28: claim withdrawn",
    "ADA-28: claim fulfilled",
    "ADA-29: kept in by a card, gold or enrolment",
    "ADA-29: last player wins",
    "ADA-30: max_turns",
    "ADA-35: mutineers lost",
    "ADA-36: count not asked",
    "ADA-36: gold not asked",
    "ADA-36: pay not asked",
    "ADA-36: take not asked",
    *(f"play {card}" for card in CARDS),
    *("convert", "scuttle", "enrol", "buy", "peek", "take"),
    *(f"{verb} in a raid" for verb in ("launch", "sail", "move", "attack", "explore", "convert")),
    *(f"{verb} in a raid" for verb in ("buy", "enrol", "play gold-mine", "play more-coups")),
}


@EVERY_VARIANT
def test_games_from_the_deal_agree_with_the_reference(variant: dict[str, Any]) -> None:
    occurred = check_games(variant, range(2), "random", decisions=500, sample=0.01)
    assert occurred.keys() >= ORDERS


@EVERY_VARIANT
def test_games_from_random_positions_agree_with_the_reference(variant: dict[str, Any]) -> None:
    occurred = check_games(variant, range(12), "position", decisions=50, sample=0.03)
    assert occurred.keys() >= ORDERS


@EVERY_VARIANT
def test_games_of_greedy_players_agree_with_the_reference(variant: dict[str, Any]) -> None:
    """These games reach situations that random play does not reach: musters, sieges and claims."""
    check_games(variant, range(1), "greedy", decisions=2000, sample=0.003)


def test_games_on_another_chart_agree_with_the_reference() -> None:
    """The chart has other names in another order, so the code cannot depend on the standard one."""
    rng = random.Random(5)
    chart = load_chart().as_dict()
    numbers = rng.sample(range(1000), len(chart["territories"]) + len(chart["sea"]))
    names = [land["name"] for land in chart["territories"]] + chart["sea"]
    renamed = {name: f"x{number}" for name, number in zip(names, numbers, strict=True)}
    lands = [land | {"name": renamed[land["name"]]} for land in chart["territories"]]
    rng.shuffle(lands)
    other = {
        "territories": sorted(lands, key=lambda land: [*COLOURS, "central"].index(land["lair"])),
        "sea": rng.sample([renamed[square] for square in chart["sea"]], len(chart["sea"])),
        "borders": [[renamed[b], renamed[a]] for a, b in reversed(chart["borders"])],
    }
    variant = {"players": 3, "cards": True, "enrolment": True, "chart": other}
    assert make_game("armada", **variant).attributes["chart"].as_dict()["sea"] == other["sea"]
    check_games(variant, range(2), "random", decisions=300, sample=0.01)
    check_games(variant, range(10), "position", decisions=50, sample=0.02)


def test_games_reach_rare_cases_of_the_rules() -> None:
    """Without the rare cases, the games above would prove little.

    Games are played until all cases have occurred, but at most 210. A claim in a raid (ADA-34) is
    even rarer: `test_raid_rules` and `test_victory_rules` test claims in raids.
    """
    occurred: Counter[str] = Counter()
    for seed, players in product(range(1000, 1070), (2, 3, 4)):
        variant = {"players": players, "cards": True, "enrolment": True}
        occurred += check_games(variant, range(seed, seed + 1), "position", decisions=100)
        if not (missing := CORNERS - occurred.keys()):
            break
    assert not missing, f"never reached: {sorted(missing)}"
