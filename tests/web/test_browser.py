"""The pages in a real browser, where there is one: `playwright` and a Chromium on the path."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from armarl.matches.records import read_records
from pages import Server

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

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


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "games")
    yield server
    server.kill()


@pytest.fixture
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser: Any, server: Server, **how: Any) -> tuple[Any, list[str]]:
    """Open a small game against a random player at the page; return the page and its errors."""
    page, errors = browser.new_page(**how), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(server.host_page)
    page.wait_for_selector("#seats li")
    page.click("#start")
    page.wait_for_selector("#picture svg", timeout=120_000)
    page.select_option("#speed", "0")
    return page, errors


def test_a_whole_game_by_clicks(browser: Any, server: Server, tmp_path: Path) -> None:
    page, errors = opened(browser, server)
    rng, places = random.Random(1), set()
    for _ in range(400):
        page.wait_for_function(f"() => {READY}", timeout=60_000)
        if page.evaluate(OVER):
            break
        lit = page.evaluate("[...document.querySelectorAll('#picture .can')].map(e => e.id)")
        if not lit or rng.random() < 0.03:
            page.locator("#choices button").first.click()
            continue
        place = rng.choice(lit)
        point = page.evaluate(HITTABLE, place)
        assert point, f"{place} cannot be hit"
        places.add(place.partition("-")[0])
        page.mouse.click(*point)
        if page.locator("#menu:not([hidden])").count():
            page.keyboard.press("1") if rng.random() < 0.5 else page.click("#menu button")
            if page.locator("#menu:not([hidden])").count():
                page.click("#menu button")
    assert page.evaluate(OVER)
    assert places == {"place", "line"}
    assert errors == []
    (path,) = (tmp_path / "games").glob("*.txt")
    assert next(read_records(path)).ending == "end"


def test_a_game_with_the_keyboard_alone(browser: Any, server: Server) -> None:
    """On the board with arrow keys and Enter, by typed notation, and with keys for the rest."""
    page, errors = opened(browser, server, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390  # a phone
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
        page.wait_for_function(f"() => {READY}", timeout=60_000)
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
