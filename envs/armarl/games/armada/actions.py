"""The action table of Armada: action ids and their notation, for a chart and the options.

One action is one line of the notation on the rules page. An order that needs numbers becomes a
chain of decisions: `move A B` names the two places, then `count n` and `gold n` follow as separate
actions. This keeps the table at 1,480 actions on the standard chart (1,806 with cards and
enrolment). A table of moves with their numbers would need over a million. An order without numbers
is a single decision, which keeps games as short as possible. Each move, attack or voyage has a
*border* and one of its two directions, so no id is used for places that do not touch.

Every table lists the families below in this order and leaves out the families of options that are
off. The first id of each family depends on the chart. It is in the variant's record (`first` in
`state.FIXED`).
"""

from __future__ import annotations

from collections.abc import Sequence

from armarl.core.action_table import ActionFamily, ActionTable
from armarl.games.armada.chart.loading import CITIES, COLOURS, POSTS, TERRITORIES_OF, Chart

TERRITORIES = sum(TERRITORIES_OF.values())
CENTRAL = TERRITORIES - TERRITORIES_OF["central"]  # number of the first central territory
ALL_CITIES = CITIES * len(COLOURS)
MOST_PIECES = 50  # ADA-6: number of bands of each colour, of gold and of tribes

CARD_NAMES = (
    "attack",
    "defence",
    "shipyard",
    "raid",
    "discovery",
    "recruit",
    "big-recruit",
    "natives",
    "big-natives",
    "strategist",
    "gold-mine",
    "mutiny",
    "more-coups",
)
PLAIN_CARDS = ("recruit", "big-recruit", "natives", "big-natives", "strategist", "more-coups")

# The action families, in id order.
(
    END,
    COUNT,
    GOLD,
    SHIP,
    LAUNCH,
    SAIL,
    MOVE,
    ATTACK,
    EXPLORE,
    CONVERT,
    SCUTTLE,
    LEVY,
    ENROL,
    BUY,
    PAY,
    SHIPYARD,
    GOLD_MINE,
    MUTINY,
    DISCOVERY,
    PLAY,
    RISE,
    LOOK,
    ANSWER,
) = range(23)
FAMILIES = ANSWER + 1

PEEK, TAKE = range(2)  # the actions of the family LOOK
ANSWERS = ("play attack", "play defence", "play raid", "decline")  # actions of the family ANSWER
DECLINE = len(ANSWERS) - 1


def city_places(chart: Chart) -> list[int]:
    """Return the place numbers of the 12 cities: three per lair, lairs in play order."""
    return [place for place, t in enumerate(chart.territories) if t.city]


def post_places(chart: Chart) -> list[int]:
    """Return the place numbers of the five trading posts, the Centre first."""
    return [next(p for p, t in enumerate(chart.territories) if t.post == post) for post in POSTS]


def directed_borders(chart: Chart) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the borders as pairs (from, to), each border in both directions.

    The first list contains the pairs that lead to land, and the second those that lead to sea.
    """
    both = [(a, b) for a, places in enumerate(chart.neighbours) for b in places]
    land = [(a, b) for a, b in both if not chart.is_sea(b)]
    return land, [(a, b) for a, b in both if chart.is_sea(b)]


def families(chart: Chart, cards: bool, enrolment: bool) -> list[ActionFamily]:
    """Return all action families in id order. Families of options that are off are empty."""
    names = chart.places
    land, central = range(TERRITORIES), range(CENTRAL, TERRITORIES)
    sea, places = range(TERRITORIES, len(names)), range(len(names))
    cities, posts = city_places(chart), post_places(chart)
    to_land, to_sea = directed_borders(chart)
    borders = to_land + to_sea
    sails = [(a, b) for a, b in to_sea if a >= TERRITORIES]
    launches = [(a, b) for a in cities for b in chart.coast(a)]
    numbers = range(MOST_PIECES + 1)

    def family(name: str, text: str, values: Sequence[object], meaning: str) -> ActionFamily:
        return ActionFamily(name, text, (values,), meaning)

    def on(name: str, text: str, at: Sequence[int], meaning: str) -> ActionFamily:
        ends = [(-1, place) for place in at]
        return ActionFamily(name, text, ([names[place] for place in at],), meaning, at=ends)

    def along(name: str, ends: Sequence[tuple[int, int]], meaning: str) -> ActionFamily:
        values = [f"{names[a]} {names[b]}" for a, b in ends]
        return ActionFamily(name, f"{name} {{}}", (values,), meaning, at=ends)

    def of(option: bool, at: Sequence[int]) -> Sequence[int]:
        return at if option else ()

    return [
        family("end", "{}", ("end",), "end the turn or raid (ADA-15)"),
        family("count", "count {}", numbers, "number of bands (ADA-13, ADA-17)"),
        family("gold", "gold {}", numbers, "amount of gold that goes with the bands (ADA-17)"),
        on("ship", "ship {}", cities, "put a ship on a city (ADA-13)"),
        along("launch", launches, "launch a ship (ADA-16)"),
        along("sail", sails, "sail a ship (ADA-20)"),
        along("move", borders, "move bands, load and unload (ADA-17)"),
        along("attack", borders, "attack (ADA-22)"),
        on("explore", "explore {}", central, "explore (ADA-21)"),
        on("convert", "convert {}", cities + posts, "convert gold into bands (ADA-25)"),
        on("scuttle", "scuttle {}", [*cities, *sea], "scuttle a ship (ADA-24)"),
        on("levy", "levy {}", of(cards or enrolment, land), "place bands (ADA-31, ADA-32)"),
        family("enrol", "{}", ("enrol",) if enrolment else (), "enrol bands (ADA-31)"),
        family("buy", "{}", ("buy",) if cards else (), "buy a card (ADA-32)"),
        on("pay", "pay {}", of(cards, places), "pay one gold from a place (ADA-32)"),
        on(
            "shipyard",
            "play shipyard {}",
            of(cards, cities),
            "put a ship from the box on a city (ADA-32)",
        ),
        on("gold-mine", "play gold-mine {}", of(cards, land), "put 3 gold on a territory (ADA-32)"),
        on("mutiny", "play mutiny {}", of(cards, sea), "take over a ship's crew (ADA-32)"),
        on("discovery", "play discovery {}", of(cards, central), "explore, find double (ADA-32)"),
        family("play", "play {}", PLAIN_CARDS if cards else (), "play another card (ADA-32)"),
        on("rise", "rise {}", of(cards, central), "place tribes (ADA-32)"),
        family(
            "look",
            "{}",
            ("peek", "take") if cards else (),
            "strategist: look at the next card, or take this one (ADA-32)",
        ),
        family(
            "answer",
            "{}",
            ANSWERS if cards else (),
            "play a card after a roll, begin a raid, or decline (ADA-32, ADA-33)",
        ),
    ]


def action_table(chart: Chart, cards: bool, enrolment: bool) -> ActionTable:
    """Return the action table for a chart and the options."""
    to_land, to_sea = directed_borders(chart)
    present = [family for family in families(chart, cards, enrolment) if family.size]
    return ActionTable(present, to_land + to_sea)
