"""The texts of the pages: legend, warnings, summaries of turns, results, list of players."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armarl import make_game, make_player
from armarl.web.house import House, Person
from armarl.web.table import Table
from armarl.web.window import ONLOOKER, signs
from browser import new_page
from pages import Server

READY = "!busy && !running && (view.actions || view.over)"

ONLY = np.zeros(1, np.int64)
ADVANCED = make_game("armadora", advanced=True)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path / "games")
    yield house
    house.close()


def played(house: House, game: Any, most: int) -> Table:
    """Return a table where scripted players have made up to `most` decisions."""
    people = [Person(name) for name in ("Ada", "Ben", "Cy", "Di")[: game.players]]
    table = house.open_table(game, people, deal=3)
    play_on(table, most)
    return table


def play_on(table: Table, most: int) -> None:
    """Let scripted players make up to `most` decisions, or all of them if it is negative."""
    game = table.game
    player, rng = make_player("greedy", game), np.random.default_rng(1)
    while table.to_move is not None and most:
        states, seats = table._journal.states[-1], np.array([table.to_move])
        action = player.choose(game.concealed(states, seats), seats, rng.random(1))[0]
        table.act(table.to_move, table.version, game.actions.texts[action])
        most -= 1


# --- the legend ----------------------------------------------------------------------------------


def test_the_legend_of_armada_agrees_with_the_drawing() -> None:
    game = make_game("armada", cards=True)
    found, definitions = signs(game).values()
    words = " ".join(sign.words for sign in found)
    for colour in ("green", "raspberry", "blue", "orange"):
        assert f"Stripes and shape of {colour}" in words
        assert any(f'id="hatch-{colour}"' in text for text in definitions)
    for said in ("A city.", "trading post", "Tribes", "A flag", "grey sail", "Cards."):
        assert said in words
    part = next(p for p in game.picture(game.new_states(0)[0]).parts if 'id="legend"' in p.svg)
    assert sum(sign.svg in part.svg for sign in found) >= 7
    without = [sign.words for sign in signs(make_game("armada"))["signs"]]
    assert "Cards." not in without


@pytest.mark.parametrize(("players", "stripes"), [(2, 2), (3, 3), (4, 2)])
def test_the_legend_of_armadora_names_the_sides(players: int, stripes: int) -> None:
    words = [s.words for s in signs(make_game("armadora", players=players))["signs"]]
    assert sum(text.startswith("Stripes") for text in words) == stripes
    assert any("badge in the corner" in text for text in words)
    assert not any("arrow" in text for text in words)
    assert any("A with C has" in text for text in words) == (players == 4)


def test_the_legend_of_the_advanced_rules_has_arrows_and_eyes() -> None:
    words = " ".join(sign.words for sign in signs(ADVANCED)["signs"])
    for said in ("arrow of the Elf", "reinforcement", "An eye"):
        assert said in words


# --- warnings before actions that cannot be taken back -------------------------------------------


def warned(table: Table, seat: int) -> dict[str, str]:
    families = table.game.actions.families
    return {families[k].name: said for k, said in table.view(seat)["warnings"].items()}


def test_armadora_warns_before_a_pass_and_before_the_end_of_a_turn(house: House) -> None:
    table = house.open_table(make_game("armadora"), [Person("Ada"), Person("Ben")], deal=3)
    assert set(warned(table, 0)) == {"pass"}
    table.act(0, table.version, "P a1-b1")
    assert "ends your turn" in warned(table, 0)["palisade"]


def test_armada_warns_before_coups_are_lost(house: House) -> None:
    table = played(house, make_game("armada"), 33)
    while "end" not in [action[0] for action in table.view(table.to_move or 0)["actions"]]:
        play_on(table, 1)
    said = warned(table, table.to_move or 0)
    coups = int(table._journal.states[-1][0]["coups"][0])
    assert 0 < coups < 10
    assert f"{coups} coup" in said["end"]
    assert "sink this ship" in said["scuttle"]


# --- summaries of turns --------------------------------------------------------------------------


def test_the_turn_of_another_seat_is_summarised_once(house: House) -> None:
    table = played(house, make_game("armada"), 60)
    news = table.view(ONLOOKER)["news"]
    ends = [k for k, item in enumerate(news) if item["summary"]]
    assert [k for k in range(1, len(news)) if news[k]["turn"] != news[k - 1]["turn"]] == [
        k + 1 for k in ends if k + 1 < len(news)
    ]
    assert news[ends[0]]["summary"].startswith("Ada (green): put 2 ships on ")
    assert "spread 18 bands over its lair" in news[ends[0]]["summary"]
    for seat in (0, 1):
        own = [item for item in table.view(seat)["news"] if item["seat"] == seat]
        assert all(not item["summary"].startswith(table.names[seat] + " (") for item in own)


def test_armada_summarises_voyages_fights_and_land() -> None:
    game = make_game("armada")
    near = next(text for text in game.actions.texts if text.startswith("attack R1 R"))
    target = near.split()[2]
    state = game.state_from(
        {
            "territories": {
                "R1": {"owner": "green", "bands": 9},
                target: {"owner": "raspberry", "bands": 1, "gold": 4},
                "G4": {"owner": "green", "bands": 1},
                "O4": {"owner": "orange", "bands": 1},
                "B4": {"owner": "blue", "bands": 1},
            },
            "ships": {"s14": {"colour": "green", "bands": 5}},
            "turn": {"number": 4, "coups": 10},
        }
    )
    states, actions = [np.full(1, state)], []
    rolls = 0

    def act(text: str) -> None:
        states.append(states[-1].copy())
        actions.append((0, game.actions.id(text)))
        assert game.legal_masks(states[-1])[0, actions[-1][1]], text
        game.apply(states[-1], ONLY, np.array([actions[-1][1]]))

    sail = next(
        t for t in game.actions.legal_texts(game.legal_masks(states[-1])) if "sail s14" in t
    )
    act(sail)
    while game.describe(states[-1][0])["territories"][target]["bands"]:
        act(near)
        rolls += 1
    act(f"move R1 {target}")
    act("count 2")
    left = game.describe(states[-1][0])["territories"]["R1"]["bands"]
    said = game.sum_up(np.concatenate(states), actions, seat=1, names=["Ada", "Ben"])
    assert said == (
        f"Ada (green): sailed from s14 to {sail.split()[2]}, "
        f"won the fight for {target} against raspberry "
        f"({rolls} roll{'s' * (rolls > 1)}, 1 fell, lost {7 - left}), "
        f"moved 2 bands from R1 to {target} (taking it with 4 gold from raspberry)."
    )


def test_a_summary_of_armadora_does_not_reveal_values() -> None:
    game = make_game("armadora")
    states = [game.new_states(3)]
    texts = ["P a1-b1", "stop"]
    for text in texts:
        states.append(states[-1].copy())
        game.apply(states[-1], ONLY, np.array([game.actions.id(text)]))
    actions = [(0, game.actions.id(text)) for text in texts]
    assert game.sum_up(np.concatenate(states), actions) == "player 0: placed a palisade on a1-b1."
    after = states[0].copy()
    game.apply(after, ONLY, np.array([game.actions.id("W3 c4")]))
    told = game.sum_up(np.concatenate([states[0], after]), [(0, game.actions.id("W3 c4"))], seat=1)
    assert told == "player 0: laid a Warrior face down on c4."
    with pytest.raises(ValueError, match="actions between"):
        game.sum_up(states[0], [])


def test_a_question_for_a_number_says_what_and_where(house: House) -> None:
    table = played(house, make_game("armada"), 60)
    counts = [item for item in table.view(ONLOOKER)["news"] if item["text"].startswith("count ")]
    assert counts
    assert all("band" in item["words"][0] for item in counts)


# --- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["armadora", "armada"])
def test_the_result_says_who_has_won_and_why(house: House, name: str) -> None:
    table = played(house, make_game(name), -1)
    view = table.view(ONLOOKER)
    assert table.is_over
    said = " ".join(view["result"])
    assert "ADA-2" in said if name == "armada" else "territory" in said and "Gold: " in said
    assert said in " ".join(view["news"][-1]["words"])
    assert table.view(ONLOOKER, number=0)["result"] == view["result"]


def test_an_unfinished_or_resigned_game_has_no_such_result(house: House) -> None:
    table = played(house, make_game("armadora"), 4)
    assert table.view(0)["result"] == []
    table.resign(0, table.version)
    assert table.view(0)["over"] == "Ada has resigned."
    assert table.view(0)["result"] == []


# --- the host's page -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["armadora", "armada"])
def test_players_are_listed_by_their_measured_strength(house: House, name: str) -> None:
    players = house.players(make_game(name))
    rates = [int(words.split(" wins ")[1].split()[0]) for _, words in players if " wins " in words]
    assert players[0][1] == "the strongest, a trained policy"
    assert rates == sorted(rates)
    assert len(rates) >= 3
    measured = [" not measured" not in words for _, words in players]
    assert measured == sorted(measured, reverse=True)
    if name == "armada":  # `armada-2p` beats greedy more often, but loses to `armada-2p-ppo`
        assert [spec for spec, _ in players[:2]] == ["armada-2p-ppo", "armada-2p"]


def test_a_named_player_is_listed_once(tmp_path: Path) -> None:
    house = House(tmp_path / "games", ["greedy:style=bold", "random"])
    specs = [spec for spec, _ in house.players(make_game("armadora"))]
    house.close()
    assert sorted(set(specs)) == sorted(specs)
    assert specs.index("random") < specs.index("greedy:style=bold")


def test_the_example_of_each_game_is_a_valid_position(house: House) -> None:
    examples = {offer["name"]: offer["example"] for offer in house.offers()}
    for name in ("armadora", "armada"):
        table = house.keep_text(json.dumps(examples[name]))
        assert table.game.name == name
        assert table.view(ONLOOKER)["over"].startswith("A position: ")


# --- in a browser --------------------------------------------------------------------------------


def test_a_pass_must_be_confirmed_and_the_result_is_at_the_top(
    browser: Any, server: Server
) -> None:
    """The test passes by mouse, by keyboard and by typed text. A double click does not confirm."""
    page, errors = new_page(browser, viewport={"width": 390, "height": 800}), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(server.host_page)
    page.wait_for_selector("#seats li")
    assert '"game":"armadora"' in page.get_attribute("#text", "placeholder")
    page.select_option("#name", "armada")
    assert '"game":"armada"' in page.get_attribute("#text", "placeholder")
    page.select_option("#name", "armadora")
    page.wait_for_function("() => document.querySelectorAll('#seats select').length === 2")
    page.locator("#seats select").nth(1).select_option("player random")
    page.click("#start")
    page.wait_for_selector("#picture svg")
    page.select_option("#speed", "0")
    page.wait_for_function(f"() => {READY}")
    number = page.evaluate("view.number")
    page.locator("#choices button", has_text="pass").dblclick()
    assert "no further turn" in page.inner_text("#choices .sure")
    page.keyboard.press("Escape")
    assert page.locator("#choices .sure").count() == 0
    page.fill("#typed", "pass")
    page.keyboard.press("Enter")
    assert "Press Enter again" in page.inner_text("#answer")
    assert page.evaluate("view.number") == number
    page.fill("#typed", "")
    page.locator("#choices button", has_text="pass").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Yes: pass"
    page.click("#line-a1-b1 [pointer-events=all]", force=True)  # one palisade can be taken back
    page.wait_for_function(f"() => {READY} && view.number > {number} && view.question")
    page.click("#line-g1-h1 [pointer-events=all]", force=True)  # the second palisade ends the turn
    assert "ends your turn" in page.inner_text("#menu")
    page.keyboard.press("Escape")
    page.click("#undo")
    page.wait_for_function(f"() => {READY} && view.number === {number}")
    page.locator("#choices button", has_text="pass").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {READY} && view.over")
    assert page.inner_text("#winner") == page.inner_text("#said")
    assert "Gold: " in page.inner_text("#reasons")
    assert page.inner_text("#heard")
    page.click("#learn-signs")
    assert page.locator("#legend li").count() >= 8
    assert page.locator("#legend").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert errors == []
