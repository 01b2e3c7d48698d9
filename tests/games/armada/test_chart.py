"""Armada's chart (ADA-1 to ADA-5): properties of the standard chart. Broken charts are refused."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest

from armarl.games.armada.chart.loading import (
    CENTRAL,
    COLOURS,
    POSTS,
    STANDARD,
    ChartError,
    load_chart,
)
from armarl.games.make_game import make_game

CHART = load_chart()
TEXT = STANDARD.read_text(encoding="utf-8")
LAND = range(len(CHART.territories))


def of(lair: str) -> list[int]:
    return [place for place in LAND if CHART.territories[place].lair == lair]


def cities(lair: str) -> list[int]:
    return [place for place in of(lair) if CHART.territories[place].city]


def distances(starts: list[int], sea_only: bool = False) -> dict[int, int]:
    """Return the distance of every place from the nearest of some places, in borders."""
    found = dict.fromkeys(starts, 0)
    frontier = list(starts)
    for place in frontier:
        for other in CHART.neighbours[place]:
            if other not in found and not (sea_only and other in LAND):
                found[other] = found[place] + 1
                frontier.append(other)
    return found


def coastal(lair: str) -> set[int]:
    return {square for place in of(lair) for square in CHART.coast(place)}


def isles() -> list[int]:
    sizes = Counter(t.island for t in CHART.territories)
    return [place for place in of(CENTRAL) if sizes[CHART.territories[place].island] == 1]


# --- the standard chart --------------------------------------------------------------------------


def test_ada_1_territories_and_islands() -> None:
    assert [len(of(lair)) for lair in (*COLOURS, CENTRAL)] == [7, 7, 7, 7, 24]
    for lair in (*COLOURS, CENTRAL):
        assert len({CHART.territories[place].island for place in of(lair)}) == 3
    assert [t.lair for t in CHART.territories] == [*(c for c in COLOURS for _ in range(7))] + [
        CENTRAL
    ] * 24


def test_ada_2_cities_and_posts() -> None:
    assert [len(cities(lair)) for lair in COLOURS] == [3, 3, 3, 3]
    posts = {t.post: t for t in CHART.territories if t.post}
    assert set(posts) == set(POSTS)
    assert {t.lair for t in posts.values()} == {CENTRAL}


def test_ada_3_sea() -> None:
    squares = range(len(LAND), len(CHART.places))
    assert 40 <= len(squares) <= 60
    high_sea = [square for square in squares if not CHART.coast(square)]
    assert 10 <= len(high_sea) <= len(squares) // 2
    assert set(distances([squares[0]], sea_only=True)) == set(squares)  # one ocean


def test_ada_4_borders_join_no_islands() -> None:
    assert len(set(CHART.borders)) == len(CHART.borders)
    for a, b in CHART.borders:
        i, j = CHART.numbers[a], CHART.numbers[b]
        assert i < j
        assert i in CHART.neighbours[j]
        assert j in CHART.neighbours[i]
        if j in LAND:
            assert CHART.territories[i].island == CHART.territories[j].island


def test_ada_5_isles_posts_and_cities() -> None:
    assert len(isles()) == 2
    for place in LAND:
        t = CHART.territories[place]
        if t.post == "Centre":
            assert not CHART.coast(place)
        elif t.post or t.city:
            assert CHART.coast(place)


def test_ada_5_lairs_are_in_play_order_around_the_board() -> None:
    """Clockwise from the north-west, each lair is in its own corner.

    Opposite colours are two apart.
    """
    assert CHART.raster is not None
    height, width = len(CHART.raster), len(CHART.raster[0])
    corners = []
    for colour in COLOURS:
        cells = [
            (x > width / 2 - 0.5, y > height / 2 - 0.5)
            for y, row in enumerate(CHART.raster)
            for x, place in enumerate(row)
            if place in of(colour)
        ]
        assert len(set(cells)) == 1, f"the {colour} lair extends beyond its corner"
        corners.append(cells[0])
    for corner, following in pairwise([*corners, corners[0]]):
        assert sum(a != b for a, b in zip(corner, following, strict=True)) == 1


@pytest.mark.parametrize("colour", COLOURS)
def test_ada_5_the_central_coast_is_two_moves_from_a_city(colour: str) -> None:
    starts = {square for city in cities(colour) for square in CHART.coast(city)}
    found = distances(sorted(starts), sea_only=True)
    assert min(found[square] for square in coastal(CENTRAL)) == 2


def test_ada_5_no_lair_is_favoured() -> None:
    assert len({len(coastal(colour)) for colour in COLOURS}) == 1
    goals = [place for place in LAND if CHART.territories[place].post] + isles()
    assert len(goals) == 7
    sorted_distances = []
    for colour in COLOURS:
        found = distances(cities(colour))
        sorted_distances.append(sorted(found[goal] for goal in goals))
    for entries in zip(*sorted_distances, strict=True):
        assert max(entries) - min(entries) <= 1


def refined(colour: str, without: tuple[str, ...] = ()) -> Counter[int]:
    """Return the structure of the chart as one colour sees it, by colour refinement.

    The results are equal if two charts have the same structure.
    """
    places = [place for place, name in enumerate(CHART.places) if name not in without]
    beside = {place: [q for q in CHART.neighbours[place] if q in places] for place in places}
    seen = {}
    for place in places:
        t = CHART.territories[place] if place in LAND else None
        seen[place] = hash(
            (t.lair == colour, t.lair == CENTRAL, t.city, t.post == "Centre", bool(t.post))
            if t
            else "sea"
        )
    for _ in range(12):
        seen = {
            place: hash((seen[place], tuple(sorted(seen[other] for other in beside[place]))))
            for place in places
        }
    return Counter(seen.values())


def test_the_standard_chart_is_fairer_than_ada_5_requires() -> None:
    """West and east are mirror images, and so are north and south, except for three territories.

    The 21 territories of the main island around the Centre cannot be halved in both directions.
    South of the Centre there is one territory, C5; north of it there are two, C2 and C3.
    """
    assert refined("green") == refined("raspberry")
    assert refined("blue") == refined("orange")
    assert refined("green") != refined("orange")
    beside_the_centre = ("C2", "C3", "C5")
    assert refined("green", beside_the_centre) == refined("orange", beside_the_centre)
    south = set(CHART.neighbours[CHART.numbers["C5"]])
    north = set(CHART.neighbours[CHART.numbers["C2"]] + CHART.neighbours[CHART.numbers["C3"]])
    assert len(south) == len(north - {CHART.numbers["C2"], CHART.numbers["C3"]})


# --- the farthest lair (ADA-12) ------------------------------------------------------------------

STANDARD_FARTHEST = ("blue", "orange", "green", "raspberry")  # of each colour in play order


def farthest(chart: dict[str, Any]) -> tuple[str, ...]:
    return tuple(COLOURS[lair] for lair in load_chart(chart).farthest)


def moved(places: tuple[str, ...]) -> dict[str, Any]:
    """Return our chart with each colour's lair at the place of the colour in `places`."""
    at = dict(zip(places, COLOURS, strict=True))
    chart = CHART.as_dict()
    for territory in chart["territories"]:
        territory["lair"] = at.get(territory["lair"], CENTRAL)
    return chart


def test_ada_12_the_farthest_lair_of_ours_is_the_opposite_one() -> None:
    assert farthest(CHART.as_dict()) == STANDARD_FARTHEST


def test_ada_12_the_farthest_lair_follows_the_chart() -> None:
    """If blue and raspberry exchange lairs, green is the farthest from raspberry."""
    turned = moved(("raspberry", "blue", "orange", "green"))
    assert farthest(turned) == STANDARD_FARTHEST
    assert farthest(moved(("green", "blue", "raspberry", "orange"))) == (
        "raspberry",
        "green",
        "orange",
        "blue",
    )


def test_ada_12_of_several_farthest_lairs_the_next_but_one_is_first() -> None:
    ring = CHART.as_dict()
    ring["borders"] += [[CHART.places[city], "s1"] for lair in CHART.cities for city in lair]
    assert {way for city in CHART.cities[0] for way in ways(ring, city)} == {2}
    assert farthest(ring) == STANDARD_FARTHEST
    near = [[CHART.places[city], "s1"] for lair in CHART.cities[::2] for city in lair]
    assert farthest({**CHART.as_dict(), "borders": [*CHART.as_dict()["borders"], *near]}) == (
        "raspberry",
        "orange",
        "orange",
        "raspberry",
    )


def ways(chart: dict[str, Any], city: int) -> set[int]:
    """Return the lengths of the ways from a city to the cities of the other lairs."""
    read = load_chart(chart)
    found = read.ways_from(city)
    return {found[goal] for lair in read.cities if city not in lair for goal in lair}


def test_ada_12_an_unreachable_lair_is_the_farthest() -> None:
    own = {CHART.places[place] for place in of("raspberry")}
    own |= {CHART.places[square] for place in of("raspberry") for square in CHART.coast(place)}
    borders = [border for border in CHART.borders if len(own.intersection(border)) != 1]
    chart = CHART.as_dict() | {"borders": [list(border) for border in borders]}
    assert farthest(chart) == ("raspberry", "orange", "raspberry", "raspberry")


# --- charts as data ------------------------------------------------------------------------------


def test_a_chart_survives_its_dict_json_and_text(tmp_path) -> None:
    plain = CHART.as_dict()
    assert json.loads(json.dumps(plain)) == plain
    file = tmp_path / "chart.json"
    file.write_text(json.dumps(plain))
    copy = tmp_path / "chart.txt"
    copy.write_text(TEXT)
    for source in (plain, file, str(file), json.dumps(plain), copy, TEXT, CHART):
        chart = load_chart(source)
        assert chart == CHART
        assert hash(chart) == hash(CHART)
    assert set(plain) == {"territories", "sea", "borders"}
    assert plain["territories"][3] == {
        "name": "G4",
        "lair": "green",
        "island": CHART.territories[3].island,
        "city": True,
        "post": None,
    }


def test_lairs_are_put_in_play_order_whatever_their_order_in_the_file() -> None:
    plain = CHART.as_dict()
    plain["territories"] = plain["territories"][::-1]
    chart = load_chart(plain)
    assert [t.name for t in chart.territories[:7]] == ["G7", "G6", "G5", "G4", "G3", "G2", "G1"]
    assert chart.territories[-1].name == "C1"


def test_a_changed_chart_is_checked_again() -> None:
    """Regression: a `Chart` was used as it was, with the text of the chart that it came from."""
    other = replace(CHART, borders=CHART.borders[:-1])
    assert load_chart(other) == other
    assert load_chart(other).text is None
    assert make_game("armada", chart=other).options["chart"] == other.as_dict()
    post = next(t for t in CHART.territories if t.post)
    for territory, says in (
        (replace(post, post=None), "post"),
        (replace(post, name="G1"), "twice"),
    ):
        there = tuple(territory if t == post else t for t in CHART.territories)
        with pytest.raises(ChartError, match=says):
            load_chart(replace(CHART, territories=there))


def test_borders_can_be_corrected_in_the_file() -> None:
    a, b = CHART.borders[-1]
    parted = load_chart(f"{TEXT}\n[borders]\npart {b} {a}  # a reef\n")
    assert set(CHART.borders) - set(parted.borders) == {(a, b)}
    assert load_chart(f"{TEXT}\n[borders]\npart {a} {b}\njoin {a} {b}\n") == CHART


# --- broken charts -------------------------------------------------------------------------------


def line_of(start: str) -> int:
    return next(n for n, line in enumerate(TEXT.splitlines(), 1) if line.startswith(start))


def without(chart: dict, name: str) -> None:
    chart["territories"] = [t for t in chart["territories"] if t["name"] != name]
    chart["sea"] = [s for s in chart["sea"] if s != name]
    chart["borders"] = [b for b in chart["borders"] if name not in b]


def change(name: str, **entries):
    def break_it(chart: dict) -> None:
        next(t for t in chart["territories"] if t["name"] == name).update(entries)

    return break_it


def add_border(a: str, b: str):
    return lambda chart: chart["borders"].append([a, b])


def only_borders(keep):
    def break_it(chart: dict) -> None:
        chart["borders"] = [border for border in chart["borders"] if keep(set(border))]

    return break_it


def every_name(old: str, new: str):
    def break_it(chart: dict) -> None:
        chart.update(json.loads(json.dumps(chart).replace(f'"{old}"', f'"{new}"')))

    return break_it


def more_squares(number: int):
    def break_it(chart: dict) -> None:
        more = [f"deep{i}" for i in range(number - len(chart["sea"]))]
        chart["sea"] += more
        chart["borders"] += [[square, "s1"] for square in more]

    return break_it


def more_borders(number: int):
    def break_it(chart: dict) -> None:
        known = {frozenset(border) for border in chart["borders"]}
        pairs = [list(pair) for pair in combinations(chart["sea"], 2) if set(pair) not in known]
        chart["borders"] += pairs[: number - len(chart["borders"])]

    return break_it


def more_launches(number: int):
    def break_it(chart: dict) -> None:
        known = {frozenset(border) for border in chart["borders"]}
        towns = [t["name"] for t in chart["territories"] if t["city"]]
        pairs = [list(pair) for pair in product(towns, chart["sea"]) if set(pair) not in known]
        launches = sum(len(CHART.coast(place)) for lair in CHART.cities for place in lair)
        chart["borders"] += pairs[: number - launches]

    return break_it


MOSS = {t.name for t in CHART.territories if t.island == "Moss"}

BROKEN = {
    "six territories": (lambda c: without(c, "G6"), "green lair has 6 territories.*must have 7"),
    "six central fewer": (lambda c: without(c, "C12"), "central group has 23 .*must have 24"),
    "unknown lair": (change("B3", lair="purple"), r"territories\[16\]: B3 is in lair 'purple'"),
    "two islands": (change("G7", island="Moss"), "green lair has 2 islands"),
    "four islands": (change("G6", island="Heath"), "green lair has 4 islands"),
    "shared island": (change("G7", island="Rosehip"), "an island of the green lair"),
    "four cities": (change("R2", city=True), r"raspberry lair has 4 cities \(R2, R4, R5, R7\)"),
    "two cities": (change("R4", city=False), r"raspberry lair has 2 cities"),
    "city outside a lair": (change("C5", city=True), r"city C5 must be in a lair \(ADA-2\)"),
    "post outside the group": (change("O2", post="North"), "post North is on O2 of the orange"),
    "no post": (change("C1", post=None), "no territory has these posts: Centre"),
    "two of a post": (change("C5", post="West"), "post West is on C20 and on C5"),
    "no such post": (change("C5", post="Middle"), "C5 has the post 'Middle'"),
    "island in pieces": (
        only_borders(lambda border: border != MOSS),
        "island Moss is in pieces: no path over land leads from G5 to G6",
    ),
    "no border": (only_borders(lambda border: "C23" not in border), "C23 has no border"),
    "lonely square": (lambda c: c["sea"].append("deep"), r"sea\[48\]: deep has no border"),
    "unknown name": (add_border("G1", "G8"), r"borders\[255\]: .*unknown place 'G8'"),
    "isle joined to land": (add_border("C11", "C23"), "joins C11 on Eldorado to C23 on Oro"),
    "border with itself": (add_border("s3", "s3"), "s3 has a border with itself"),
    "name twice": (every_name("G2", "G1"), "the name G1 is used twice"),
    "name on land and sea": (every_name("s7", "G1"), "the name G1 is used twice"),
    "two words": (every_name("G2", "Green Hill"), "the name 'Green Hill' must be a single word"),
    "no name": (every_name("G2", ""), "the name '' must be a single word"),
    "no sea": (lambda c: c.update(sea=[]), "no sea square"),
    "borders no pairs": (lambda c: c["borders"].append(["G1"]), "a border must be a pair of names"),
    "territory no mapping": (lambda c: c["territories"].append("G8"), "a territory must have name"),
    "unknown key": (change("G1", gold=3), "a territory must have name, lair and island"),
    "city no bool": (change("G1", city="yes"), "city must be true or false, not 'yes'"),
    "64 squares and one": (
        more_squares(65),
        r"the chart has 65 sea squares; at most 64 are allowed \(ADA-5\)",
    ),
    "380 borders and one": (
        more_borders(381),
        r"the chart has 381 borders; at most 380 are allowed \(ADA-5\)",
    ),
    "too many launches": (
        more_launches(128),
        r"the chart has 128 launches .*; at most 127 are allowed \(ADA-5\)",
    ),
    "no list": (
        lambda c: c.update(sea=None),
        "lists territories, sea and borders; sea is not a list",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_chart_is_refused(case: str) -> None:
    break_it, message = BROKEN[case]
    chart = deepcopy(CHART.as_dict())
    break_it(chart)
    with pytest.raises(ChartError, match=message):
        load_chart(chart)


def test_a_state_belongs_to_one_chart_even_if_another_has_its_size() -> None:
    """States contain only a fingerprint of the chart."""
    other = deepcopy(CHART.as_dict())
    other["borders"].pop()
    game, elsewhere = make_game("armada"), make_game("armada", chart=other)
    assert len(game.attributes["chart"].places) == len(elsewhere.attributes["chart"].places)
    states = game.new_states(np.arange(2))
    with pytest.raises(ValueError, match="of another variant of armada"):
        elsewhere.legal_masks(states)
    assert states.itemsize <= 1024


def test_ada_5_the_largest_possible_chart_can_be_played() -> None:
    chart = deepcopy(CHART.as_dict())
    for grow in (more_squares(64), more_launches(127), more_borders(380)):
        grow(chart)
    read = load_chart(chart)
    assert (len(read.sea), len(read.borders)) == (64, 380)
    game = make_game("armada", chart=chart, max_turns=6, cards=True, enrolment=True)
    states = game.new_states(np.arange(5))
    assert game.fixed["launches"].max() == 127
    game.playouts(states, np.arange(5))
    game.check_states(states)
    assert game.statuses(states)[0].all()


def test_the_error_for_a_map_with_many_seas_says_how_many() -> None:
    """Regression: the count stopped at a limit that was not the real one."""
    rows = "\n".join([".-" * 28, "-." * 28] * 30)
    with pytest.raises(ChartError, match=r"the chart has \d{4} sea squares; at most 64 are"):
        load_chart(TEXT.replace("\n[map]\n", f"\n[map]\n{rows}\n"))


def replaced(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new, 1)


TABLE = TEXT[TEXT.index("\n[territories]\n") :]
MAP = TEXT[TEXT.index("\n[map]\n") : -len(TABLE)]

BROKEN_FILES = {
    "post elsewhere": (
        replaced("e  G5  green      Moss      city", "e  G5  green      Moss      post North"),
        f"line {line_of('e  G5')}: post North is on G5 of the green lair",
    ),
    "malformed line": (
        replaced("e  G5  green      Moss      city", "e  G5  green"),
        f"line {line_of('e  G5')}: 'e  G5  green' is not `symbol name lair island`",
    ),
    "symbol taken": (
        replaced("e  G5", "d  G5"),
        f"line {line_of('e  G5')}: the symbol d of G5 is already used by G4",
    ),
    "long symbol": (replaced("e  G5", "ee  G5"), "the symbol of G5 must be one letter or digit"),
    "unknown symbol": (replaced("aaaa", "a1aa"), "column 4: no territory has the symbol '1'"),
    "not on the map": (
        MAP.replace("e", "f") + TABLE,
        "G5 is not on the map",
    ),
    "uneven rows": (
        replaced("YYYYY", "YYYY"),
        "this row of the map has 55 cells, but the first has 56",
    ),
    "territory in pieces": (
        replaced("YYYYY", "YYaYY"),
        "column 28: G1 is in pieces; the first piece begins at line 13, column 3",
    ),
    "islands that touch": (
        replaced("bbbb~eeee", "bbbbbeeee"),
        "a land border joins G2 on Fern to G5 on Moss",
    ),
    "no map": (TABLE, r"the chart has no \[map\]"),
    "no territories": (MAP, r"the chart has no \[territories\]"),
    "text before": ("ahoy\n" + TEXT, r"line 1: 'ahoy' must come after"),
    "join unknown": (f"{TEXT}[borders]\njoin s1 s99\n", "border s1 s99: unknown place 's99'"),
    "join isle": (f"{TEXT}[borders]\njoin C23 C11\n", "no land border joins two islands"),
    "part nothing": (f"{TEXT}[borders]\npart s1 C1\n", "'s1' and 'C1' have no border to remove"),
    "part malformed": (f"{TEXT}[borders]\nbridge s1 s2\n", "must be `join A B` or `part A B`"),
}


@pytest.mark.parametrize("case", BROKEN_FILES)
def test_a_broken_chart_file_is_refused(case: str, tmp_path) -> None:
    text, message = BROKEN_FILES[case]
    with pytest.raises(ChartError, match=message):
        load_chart(text)
    file = tmp_path / "mine.txt"
    file.write_text(text)
    with pytest.raises(ChartError, match=r"mine\.txt: "):
        load_chart(file)


def test_files_that_are_not_charts_are_refused(tmp_path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"chart file 'nowhere\.txt': (No|there is no) such"
    ):
        load_chart("nowhere.txt")
    with pytest.raises(OSError, match=r"chart file .*: File name too long; a chart must"):
        load_chart("x" * 999)
    file = tmp_path / "chart.json"
    file.write_text("{")
    with pytest.raises(ChartError, match="not valid JSON"):
        load_chart(file)
    file.write_text("[]")
    with pytest.raises(ChartError, match="a chart must be a mapping"):
        load_chart(file)


@pytest.mark.parametrize("empty", ["", "  ", "\n"])
def test_an_empty_chart_is_refused(empty) -> None:
    with pytest.raises(ChartError, match="the option chart is empty text; a chart must be"):
        make_game("armada", chart=empty)


def test_json_text_that_is_not_a_chart_is_refused() -> None:
    with pytest.raises(ChartError, match="the chart is not valid JSON: "):
        load_chart('{"territories": [')
    with pytest.raises(ChartError, match="must have the lists territories, sea and borders"):
        load_chart("{}")
    with pytest.raises(ChartError, match="the key 'sea' appears twice"):
        load_chart('{"sea": [], "sea": []}')


def test_a_chart_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "chart.txt"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ChartError, match="not a UTF-8 text file"):
        load_chart(path)


def test_games_with_equal_charts_keep_their_own_maps() -> None:
    """Regression: a game took the map of an equal chart that an earlier game had been made with."""
    assert make_game("armada", chart=CHART.as_dict()) is make_game("armada")
    swapped = TEXT.replace("West", "?").replace("East", "West").replace("?", "East")
    bare = make_game("armada", chart=load_chart(swapped).as_dict())
    drawn = make_game("armada", chart=swapped)
    assert bare.attributes["chart"] == drawn.attributes["chart"]
    with pytest.raises(ValueError, match="no map to draw"):
        bare.picture(bare.new_states([1])[0])
    assert drawn.draw_svg(drawn.new_states([1])[0])
