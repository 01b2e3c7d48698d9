"""The pages in a real browser. The tests need `playwright` and a Chromium."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from armarl.matches.records import read_records
from browser import new_page
from pages import Server

HITTABLE = """id => {
  const area = document.getElementById(id).querySelector('[pointer-events=all]');
  const box = area.getBoundingClientRect();
  for (let k = 1; k < 50; k++) {
    const x = box.left + box.width * (k * 0.618 % 1), y = box.top + box.height * (k * 0.414 % 1);
    for (let at = document.elementFromPoint(x, y); at; at = at.parentElement) {
      if (at.id === id) return [x, y];
    }
  }
  return null;
}"""
OVER = "document.getElementById('said').textContent.match(/won|share|cut short|resigned/)"
READY = f"!busy && !running && (view.actions || {OVER})"


def opened(
    browser: Any, server: Server, rival: str = "random", **how: Any
) -> tuple[Any, list[str]]:
    """Open a game against a player on the page. Return the page and its errors."""
    page, errors = new_page(browser.new_context(**how)), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(server.host_page)
    page.wait_for_selector("#seats li")
    page.locator("#seats select").nth(1).select_option(f"player {rival}")
    page.click("#start")
    page.wait_for_selector("#picture svg")
    page.select_option("#speed", "0")
    return page, errors


KINDS = {"place", "line"}  # kinds of places on Armadora's board that can be clicked


def click_at_random(page: Any, rng: random.Random, clicked: set[str]) -> None:
    """Click a highlighted place and one of its choices, or a button below.

    The kind of the place, or the words of the button, are added to `clicked`. A button may end the
    seat's game, so the function clicks both kinds of places first.
    """
    lit = page.evaluate("[...document.querySelectorAll('#picture .can')].map(e => e.id)")
    if not lit or (clicked >= KINDS and rng.random() < 0.03):
        button = page.locator("#choices button").first
        clicked.add(button.inner_text())
        button.click()
        confirm(page)
        return
    place = rng.choice(lit)
    point = page.evaluate(HITTABLE, place)
    assert point, f"{place} cannot be hit"
    page.mouse.click(*point)
    if page.locator("#menu:not([hidden])").count():
        page.keyboard.press("1") if rng.random() < 0.5 else page.click("#menu button")
        if page.locator("#menu:not([hidden])").count():
            page.click("#menu button")
        confirm(page)
    clicked.add(place.partition("-")[0])


def confirm(page: Any) -> None:
    """Answer yes if the page asks for a confirmation."""
    if page.locator("#choices .sure").count():
        page.locator("#choices .sure button").first.click()


@pytest.mark.parametrize("rival", ["random", "armadora-2p"])
def test_a_whole_game_can_be_played_by_clicks(
    browser: Any, server: Server, tmp_path: Path, rival: str
) -> None:
    page, errors = opened(browser, server, rival)
    rng, clicked = random.Random(1), set[str]()
    for _ in range(400):
        page.wait_for_function(f"() => {READY}")
        if page.evaluate(OVER):
            break
        click_at_random(page, rng, clicked)
    assert page.evaluate(OVER)
    assert clicked >= KINDS
    assert errors == []
    (path,) = (tmp_path / "games").glob("*.txt")
    assert next(read_records(path)).ending == "end"


def test_three_people_and_a_policy_can_play_by_clicks(
    browser: Any, server: Server, tmp_path: Path
) -> None:
    """In an advanced game of four, two people share a screen, and one has a separate address."""
    host, errors = new_page(browser), []
    host.on("pageerror", lambda error: errors.append(str(error)))
    host.goto(server.host_page)
    host.wait_for_selector("#seats li")
    host.select_option("#players", "4")
    host.check("#options input[name=advanced]")
    host.wait_for_function("() => document.querySelectorAll('#seats li').length === 4")
    sitting = ["here", "player armadora-4p-advanced", "here", "link"]
    for line, who in zip(host.locator("#seats select").all(), sitting, strict=True):
        line.select_option(who)
    for seat, name in ((0, "Ann"), (2, "Bo"), (3, "Cleo")):
        host.locator("#seats input").nth(seat).fill(name)
    host.click("#start")
    host.wait_for_selector("#addresses a")
    addresses = {}
    for line in host.locator("#addresses li").all():
        who = line.inner_text().partition(":")[0]
        addresses[who] = line.locator("a").get_attribute("href")
    assert {"Ann, Bo", "Cleo"} < set(addresses)

    pages = {}
    for who in ("Ann, Bo", "Cleo"):
        pages[who] = new_page(browser.new_context())
        pages[who].on("pageerror", lambda error: errors.append(str(error)))
        pages[who].goto(addresses[who])
        pages[who].wait_for_function("() => view || document.getElementById('curtain').open")
        pages[who].select_option("#speed", "0")
    shared, rng = pages["Ann, Bo"], random.Random(4)
    curtains, acted, clicked = set(), set(), set[str]()
    ready = f"!!(document.getElementById('curtain').open || (view && {READY}))"
    for _ in range(900):
        page = next((one for one in pages.values() if one.evaluate(ready)), None)
        if page is None:
            shared.wait_for_timeout(20)
            continue
        if page.locator("#curtain[open]").count():
            assert page is shared
            assert page.locator("#picture svg").count() == 0  # no hand can be seen behind it
            assert page.inner_text("#news") == ""
            curtains.add(page.inner_text("#hand"))
            page.click("#take")
            continue
        if page.evaluate(OVER):
            break
        acted.add(page.evaluate("setup.names[seat]"))
        number = page.evaluate("view.number")
        click_at_random(page, rng, clicked)
        page.wait_for_function(
            f"() => document.getElementById('curtain').open || (!busy && view.number > {number})"
            " || document.querySelector('#menu:not([hidden])')"
        )
    for page in pages.values():
        page.wait_for_function(f"() => document.getElementById('curtain').open || {OVER}")
    assert acted == {"Ann", "Bo", "Cleo"}
    assert {one.partition("'")[0] for one in curtains} == {"It is Ann", "It is Bo"}
    assert clicked >= KINDS
    assert errors == []
    (path,) = (tmp_path / "games").glob("*.txt")
    (record,) = read_records(path)
    assert record.ending == "end"
    assert list(record.players) == ["Ann", "armadora-4p-advanced", "Bo", "Cleo"]


def test_a_game_can_be_played_with_only_the_keyboard(browser: Any, server: Server) -> None:
    """The keys are arrows and Enter on the board, typed notation, and shortcuts."""
    page, errors = opened(browser, server, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390  # the width of a phone
    press = page.keyboard.press
    press("b")
    assert page.evaluate("document.activeElement.id") == "place-a1"
    press("ArrowRight")
    press("ArrowDown")
    here = page.evaluate("document.activeElement.id")
    assert here not in ("", "place-a1")
    press("Enter")
    if here.startswith("place"):
        press("1")
    page.wait_for_function("() => !busy && shown > 0")
    press("/")
    page.keyboard.type("where d1")
    press("Enter")
    page.wait_for_function("() => document.getElementById('answer').textContent.includes('gold')")
    for _ in range(100):
        page.wait_for_function(f"() => {READY}")
        if page.evaluate(OVER):
            break
        page.evaluate("document.getElementById('typed').value = ''")
        page.focus("#typed")
        legal = page.evaluate("view.actions.map(action => action[0])")
        wished = [*(text for text in legal if text.startswith("W")), "stop", "pass"]
        page.keyboard.type(next(text for text in wished if text in legal))
        press("Enter")
        page.wait_for_function("() => !busy")
    said = [page.inner_text(f"#{name}") for name in ("said", "answer", "place")]
    assert page.evaluate(OVER), said
    assert errors == []
    press("Escape")
    press("Home")
    page.wait_for_function("() => shown === 0")


def test_armada_is_legible_on_a_phone(browser: Any, server: Server) -> None:
    """The chart is larger than the screen and scrolls to the needed place.

    The page does not scroll.
    """
    page = new_page(browser.new_context(viewport={"width": 390, "height": 800}))
    page.goto(server.host_page)
    page.wait_for_selector("#seats li")
    page.select_option("#name", "armada")
    page.click("#start")
    page.wait_for_selector("#picture .can")
    scale = "document.querySelector('#picture svg').getBoundingClientRect().width / 1188"
    assert page.evaluate(scale) > 0.6  # names of places are then 27 units high
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("bringInView([element('place-B3')])")
    assert page.evaluate(HITTABLE, "place-B3")
    page.click("#zoom")
    assert page.evaluate(scale) < 0.4


def click_action(page: Any, text: str) -> None:
    """Do an action by clicks: its places in order, then a menu, a button or an amount."""
    _, _, number, *places = page.evaluate(
        "text => view.actions.find(action => action[0] === text)", text
    )
    for place in places:
        point = page.evaluate(HITTABLE, place)
        assert point, f"{place} cannot be hit"
        page.mouse.click(*point)
    if places and (page.evaluate("busy") or page.locator("#menu:not([hidden])").count() == 0):
        return
    exact = f"xpath=//button[normalize-space(text())='{text}' or b='{text}']"
    if number is not None and not places and page.locator("#amount:not([hidden])").count():
        page.fill("#number", str(number))
        page.click("#amount button")
    else:
        page.locator("#menu:not([hidden]), #choices").locator(exact).first.click()
        if page.locator("#choices .sure").count():  # the page asks for a confirmation
            page.locator("#choices .sure button").first.click()


def test_a_raid_interrupts_another_turn(browser: Any, server: Server) -> None:
    """In a whole game of Armada with cards, the person follows the hints, and raids."""
    page, errors = new_page(browser), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(server.host_page)
    page.wait_for_selector("#seats li")
    page.select_option("#name", "armada")
    page.check("#options input[name=cards]")
    page.fill("#deal", "8")  # with this deal, the person has a raid card
    page.locator("#seats select").nth(1).select_option("player greedy")
    page.click("#start")
    page.wait_for_selector("#picture svg")
    page.select_option("#speed", "0")
    raided = 0
    for _ in range(600):
        page.wait_for_function(f"() => {READY}")
        if page.evaluate(OVER):
            break
        legal = page.evaluate("view.actions.map(action => action[0])")
        if "play raid" in legal:
            assert "interrupt this turn with a raid" in page.inner_text("#question")
            raided += 1
            click_action(page, "play raid")
            page.wait_for_function("() => !busy && !running && view.actions")
            assert "left in its raid" in page.inner_text("#question")
            continue
        hint = page.evaluate("ask('hint', { seat, player: 'greedy' })")
        number = page.evaluate("view.number")
        click_action(page, hint["action"])
        page.wait_for_function(f"() => !busy && shown > {number}")
    assert page.evaluate(OVER), page.inner_text("#said")
    assert raided >= 1
    assert errors == []


def test_two_tabs_and_a_cut_network_lose_no_decision(
    browser: Any, server: Server, tmp_path: Path
) -> None:
    """If two tabs of a seat act at the same time, one decision counts.

    A cut of the network repeats no decision.
    """
    page, _ = opened(browser, server)
    page.wait_for_function(f"() => {READY}")
    other = new_page(page.context)
    other.goto(page.url)
    other.wait_for_function("() => view && view.actions && !running")
    text = page.evaluate("view.actions[0][0]")
    before = page.evaluate("view.number")
    body = "text => { send('act', { action: text }); }"
    page.evaluate(body, text)
    other.evaluate(body, text)
    for tab in (page, other):
        tab.wait_for_function(f"() => view.number > {before} && {READY}")
    (path,) = (tmp_path / "games").glob("*.txt")
    assert path.read_text().count(f"\n0 {text} | ") == 1

    page.context.set_offline(True)
    text, before = page.evaluate("view.actions[0][0]"), page.evaluate("view.number")
    page.evaluate(body, text)
    page.wait_for_function("() => document.body.textContent.includes('does not answer')")
    assert f"\n0 {text} | " not in path.read_text()
    page.context.set_offline(False)
    page.evaluate(body, text)
    page.wait_for_function(f"() => view.number > {before} && {READY}")
    other.wait_for_function(f"() => view.number > {before} && {READY}")
    assert path.read_text().count(f"\n0 {text} | ") == 1
