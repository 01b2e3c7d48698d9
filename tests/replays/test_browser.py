"""Pages of recorded games in a real browser: from a file, in a frame, by keys and by mouse."""

from __future__ import annotations

from html import escape

import pytest

from armarl import Replay, make_game, make_player, position_record
from armarl.replays.thinking import think_over
from browser import Watched, browser
from recorded import recorded


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return pages of both games, and one with two games and thoughts, for all and for one seat."""
    folder = tmp_path_factory.mktemp("pages")
    armadora = recorded(make_game("armadora", players=3, advanced=True))
    armada = recorded(make_game("armada", players=2, cards=True), most=90)
    other = recorded(make_game("armadora"), "random", most=12, names=["<b>Ann</b>", "Bo"])
    thoughts = [
        {},
        {
            "random": think_over(other, make_player("random", other.game)),
            "armadora-2p": think_over(other, make_player("armadora-2p", other.game)),
        },
    ]
    pages = {
        "armadora": Replay([armadora]),
        "armada": Replay([armada]),
        "two": Replay([armadora, other], None, thoughts),
        "fog": Replay([other], 0, thoughts[1:]),
    }
    for name, page in pages.items():
        page.write(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in pages}


def opened(chromium, path, hash_="", **options):
    watched = Watched(chromium, **options)
    watched.page.goto(path.as_uri() + hash_)
    return watched, watched.page


def move_of(page):
    return int(page.locator("#page-slider").input_value())


@pytest.mark.parametrize("name", ["armadora", "armada", "two", "fog"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_page_opens_from_disk_and_axe_finds_nothing_serious(chromium, files, name, scheme, width):
    watched, page = opened(
        chromium,
        files[name],
        "#move=30",
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
    )
    assert page.locator("#page-picture g").count() > 50
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    fill = page.evaluate(
        "getComputedStyle(document.querySelector('#page-picture #ground rect')).fill"
    )
    light = sum(map(int, fill.removeprefix("rgb(").removesuffix(")").split(","))) > 384
    assert light == (scheme == "light")
    assert watched.serious() == []
    assert watched.complaints == []
    page.close()


def test_keys_move_through_a_game(chromium, files):
    watched, page = opened(chromium, files["armada"])
    end = int(page.locator("#page-slider").get_attribute("max"))
    assert move_of(page) == 0
    for key, place in [
        ("ArrowRight", 1),
        ("j", 2),
        ("ArrowLeft", 1),
        ("k", 0),
        ("ArrowLeft", 0),
        ("End", end),
        ("ArrowRight", end),
        ("Home", 0),
        ("ArrowDown", end),
        ("ArrowUp", 0),
    ]:
        page.keyboard.press(key)
        assert move_of(page) == place, key
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    second = move_of(page)
    assert second > 2
    page.keyboard.press("Shift+ArrowLeft")
    assert 0 < move_of(page) < second
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    before = move_of(page)
    page.keyboard.press("End")  # ignored while the help is open
    assert move_of(page) == before
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    assert watched.complaints == []
    page.close()


def test_controls_keep_their_keys(chromium, files):
    watched, page = opened(chromium, files["armadora"], "#move=10")
    page.locator("#page-slider").focus()
    page.keyboard.press("ArrowRight")  # moves the slider
    assert move_of(page) == 11
    page.keyboard.press("f")
    assert page.locator("#page-view").input_value() == "0"
    page.locator("#page-speed").focus()
    page.keyboard.press("End")
    assert move_of(page) == 11
    page.locator("#page-next").click()
    page.keyboard.press(" ")  # presses the button again
    assert move_of(page) == 13
    page.keyboard.press("f")
    assert page.locator("#page-view").input_value() == "1"
    assert watched.complaints == []
    page.close()


def test_buttons_turns_and_slider_move_through_a_game(chromium, files):
    watched, page = opened(chromium, files["armada"])
    page.locator("#page-moves button").nth(24).click()
    assert move_of(page) == 25
    assert page.locator("#page-moves [aria-current]").count() == 1
    assert page.locator("#page-moves [aria-current]").get_attribute("data-move") == "25"
    chosen = page.locator("#page-turn option").nth(3)
    page.locator("#page-turn").select_option(index=3)
    assert move_of(page) == int(chosen.get_attribute("value"))
    page.locator("#page-slider").fill("40")
    assert move_of(page) == 40
    assert page.locator("#page-live").inner_text().startswith("Move 40 of ")
    assert page.evaluate("location.hash") == "#game=1&move=40&view=0"
    assert watched.complaints == []
    page.close()


def test_every_step_is_announced(chromium, files):
    _, page = opened(chromium, files["armadora"])
    live = page.locator("#page-live")
    assert live.get_attribute("aria-live") == "polite"
    said = set()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        said.add(live.inner_text())
    assert len(said) == 8
    assert all("Warrior" in words or "palisade" in words for words in said)
    page.close()


def test_a_game_can_play_and_stops_at_the_end(chromium, files):
    watched, page = opened(chromium, files["fog"])
    page.locator("#page-speed").select_option("100")
    page.locator("body").click(position={"x": 2, "y": 2})
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(" ")
    assert page.locator("#page-play").get_attribute("aria-label") == "Pause"
    page.wait_for_selector("#page-play[aria-label=Play]", timeout=20_000)
    assert move_of(page) == 12
    assert watched.complaints == []
    page.close()


def test_seats_see_their_own_view(chromium, files):
    watched, page = opened(chromium, files["two"], "#game=2&move=12")
    page.keyboard.press("f")
    assert "as <b>Ann</b> sees it" in page.locator("#page-picture").get_attribute("aria-label")
    texts = page.locator("#page-moves button").all_inner_texts()
    assert any(text.startswith("W? ") for text in texts)
    page.keyboard.press("f")
    page.keyboard.press("f")
    assert page.locator("#page-view").input_value() == "0"
    whole = page.locator("#page-moves button").all_inner_texts()
    assert not any(text.startswith("W? ") for text in whole)
    assert page.locator("b").count() == 0
    page.keyboard.press("g")
    assert page.locator("#page-game").input_value() == "0"
    assert watched.complaints == []
    page.close()


def test_players_think_side_by_side(chromium, files):
    watched, page = opened(chromium, files["two"], "#game=2&move=3")
    articles = page.locator("#page-thoughts article")
    assert articles.locator("h2").all_inner_texts() == ["random", "armadora-2p"]
    for k in range(2):
        table = page.locator(f"#page-thought-{k} table")
        assert table.locator("tbody tr").count() >= 5
        assert table.locator("tr.played").count() == 1
        assert "%" in table.inner_text()
    assert articles.nth(0).locator(".curve").count() == 0  # `random` predicts no result
    curve = articles.nth(1).locator(".curve")
    assert "Bo from" in curve.get_attribute("aria-label")
    box = curve.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert move_of(page) == 6
    fall = articles.nth(1).locator(".falls button").first
    wanted = int(fall.inner_text().partition(".")[0])
    fall.focus()
    page.keyboard.press("Enter")
    assert move_of(page) == wanted
    page.locator("#page-first").click()
    assert page.locator("#page-thoughts table").count() == 0
    assert watched.complaints == []
    page.keyboard.press("g")
    assert not page.locator("#page-thoughts").is_visible()
    page.close()


@pytest.mark.parametrize("sandbox", ["", ' sandbox="allow-scripts"'])
def test_a_page_works_in_a_frame(chromium, files, tmp_path, sandbox):
    inner = escape(files["armada"].read_text(encoding="utf-8"), quote=True)
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<!doctype html><title>x</title><iframe{sandbox} width="900" height="700" '
        f'srcdoc="{inner}"></iframe>',
        encoding="utf-8",
    )
    watched, page = opened(chromium, outer)
    frame = page.frame_locator("iframe")
    frame.locator("#page-next").click()
    frame.locator("#page-next").click()
    assert frame.locator("#page-slider").input_value() == "2"
    assert frame.locator("#page-picture g").count() > 50
    assert watched.complaints == []
    page.close()


def test_a_reader_without_scripts_sees_a_message(chromium, files):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(files["fog"].as_uri())
    assert "needs JavaScript" in page.locator("body").inner_text()
    context.close()


def test_a_position_made_by_hand_shows_thoughts_of_players(chromium, tmp_path):
    game = make_game("armadora")
    record = position_record(game, game.state_from({"palisades": ["c3-c4"]}))
    names = ("armadora-2p", "random")
    thoughts = {name: think_over(record, make_player(name, game)) for name in names}
    Replay([record], None, [thoughts]).write(tmp_path / "page.html")
    watched, page = opened(chromium, tmp_path / "page.html")
    assert page.locator("#page-thoughts article").count() == 2
    said = page.locator("#page-thought-0").inner_text()
    assert said.startswith("player 0 is to move.")
    assert page.locator("#page-thought-1 tbody tr").count() == 5
    assert watched.serious() == []
    assert watched.complaints == []
    page.close()
