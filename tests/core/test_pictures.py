"""Pictures: letters, themes, names from strangers, pixels, stored parts, and errors."""

from __future__ import annotations

import gc
import re
import sys
import tracemalloc
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from armarl.core.pictures import lettering, raster
from armarl.core.pictures.sheet import WIDTH
from armarl.games.make_game import make_game

GAME = make_game("armadora", board="mini")
STATE = GAME.new_states(0)[0]
SHEET = GAME.picture(STATE).sheet


def words_of(svg: str) -> list[str]:
    """Return the texts of a picture, in order."""
    return [
        e.get("data-text", "") for e in ElementTree.fromstring(svg).iter() if e.get("data-text")
    ]


def test_letters_are_outlines_and_need_no_font():
    svg = GAME.draw_svg(STATE)
    assert "<text" not in svg
    assert "font" not in svg
    assert "player 0 to move" in words_of(svg)
    for name in set(re.findall(r'href="#(l[0-9a-f]+)"', svg)):
        assert f'<path id="{name}" d="M' in svg


def test_a_letter_that_is_missing_is_a_box():
    assert lettering.letter_id("a") == "l61"
    assert lettering.letter_id("将") == "lbox"
    assert 'data-text="将"' in lettering.write("将", 0, 0, 20, "#000")
    assert "lbox" in GAME.draw_svg(STATE, names=["将軍", "b"])


def test_long_text_is_smaller_and_then_cut():
    whole = lettering.write("a long line", 0, 0, 30, "#000")
    smaller = lettering.write("a long line", 0, 0, 30, "#000", most=120)
    cut = lettering.write("a long line", 0, 0, 30, "#000", most=60)
    assert 'data-text="a long line"' in whole
    assert 'data-text="a long line"' in smaller
    assert "…" in cut
    shown = re.search('data-text="(.*?)"', cut)
    assert shown
    assert lettering.width_of(shown[1], 20) <= 60


HOSTILE = '</script><img src=x onerror="alert(1)">&\'\x1b[31m\n' + "y" * 100_000


@pytest.mark.parametrize("name", ["armadora", "armada"])
def test_names_of_strangers_are_drawn_as_text(name):
    game = make_game(name)
    svg = game.draw_svg(game.new_states(0)[0], names=[HOSTILE, "b"], seat=0)
    ElementTree.fromstring(svg)
    assert "<img" not in svg
    assert "</script" not in svg
    assert "\x1b" not in svg
    assert len(svg) < 400_000
    assert any("&lt;/script" in part for part in svg.split("data-text"))


def test_themes_have_different_colours():
    auto, light, dark = (GAME.draw_svg(STATE, theme=theme) for theme in ("auto", "light", "dark"))
    assert "prefers-color-scheme:dark" in auto
    assert auto.replace(SHEET.dark_style(), "") == light  # programs other than browsers show this
    for plain in (auto, light, dark):
        assert "var(" not in plain
    for plain in (light, dark):
        assert "<style" not in plain
    assert light != dark
    with pytest.raises(ValueError, match="theme must be 'auto' or 'light' or 'dark', not 'pink'"):
        GAME.draw_svg(STATE, theme="pink")


def test_colours_that_cannot_be_told_apart():
    with pytest.raises(ValueError, match="are the same in the light theme but differ"):
        replace(SHEET, colours={"a": ("#fff", "#000"), "b": ("#fff", "#111")})


def test_wrong_arguments_are_refused():
    for names in ("ab", ["a"], ["a", "b", "c"]):
        with pytest.raises(ValueError, match="names must be a sequence of 2 names"):
            GAME.picture(STATE, names=names)
    with pytest.raises(TypeError, match=r"last must be a tuple \(seat, action\)"):
        GAME.picture(STATE, last=3)
    for last in ((2, 0), (-1, 0), (0, 10**6)):
        with pytest.raises(ValueError, match=r"last action|no action"):
            GAME.picture(STATE, last=last)
    other = make_game("armadora").new_states(0)[0]
    with pytest.raises(ValueError, match="variant"):
        GAME.picture(STATE, before=other)


def test_a_game_without_a_drawing_says_so():
    plain = replace(GAME, _picture=None)
    assert not plain.has_picture
    for call in (plain.picture, plain.draw_svg):
        with pytest.raises(ValueError, match="armadora has no drawing, only text"):
            call(STATE)


def test_a_missing_library_is_named(monkeypatch):
    picture = make_game("armadora").picture(make_game("armadora").new_states(5)[0])
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ImportError, match=r"pip install 'armarl\[render\]'"):
        picture.pixels(38)
    with pytest.raises(ImportError, match=r"pip install 'armarl\[render\]'"):
        picture.png()


# --- pixels --------------------------------------------------------------------------------------


@pytest.fixture
def resvg():
    pytest.importorskip("resvg_py")


@pytest.mark.usefixtures("resvg")
@pytest.mark.parametrize("name", ["armadora", "armada"])
@pytest.mark.parametrize("width", [16, 301, WIDTH])
def test_pixels_have_even_sizes_and_colour(name, width):
    game = make_game(name)
    frame = game.picture(game.new_states(0)[0]).pixels(width)
    assert frame.dtype == np.uint8
    assert frame.shape[1:] == (width + width % 2, 3)
    assert frame.shape[0] % 2 == 0
    assert frame.flags.owndata
    assert len(np.unique(frame.reshape(-1, 3), axis=0)) > 20


@pytest.mark.usefixtures("resvg")
@pytest.mark.parametrize("name", ["armadora", "armada"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_frames_made_of_parts_look_like_the_whole_picture(name, theme):
    """A frame composed of stored parts looks like the whole document drawn in one pass."""
    import io

    from PIL import Image

    game = make_game(name, players=3)
    states, rng = game.new_states(3), np.random.default_rng(0)
    before = None
    for _ in range(45):
        action = rng.choice(np.flatnonzero(game.legal_masks(states)[0]))
        before = states[0].copy()
        game.apply(states, np.array([0]), np.array([action]))
        picture = game.picture(states[0], before=before)
        frame = picture.pixels(256, theme)
    whole = np.asarray(Image.open(io.BytesIO(picture.png(256, theme))).convert("RGB"))
    assert whole.shape == frame.shape
    apart = np.abs(whole.astype(int) - frame)
    assert apart.mean() < 1.0
    # The edges of some parts are moved by less than a pixel.
    assert (apart.max(axis=2) > 48).mean() < 0.004


@pytest.mark.usefixtures("resvg")
@pytest.mark.parametrize("width", [301, 1024])
def test_stored_pixels_are_limited_in_bytes(width, monkeypatch):
    """Regression: the number of parts was limited, so large parts took gigabytes.

    The limit changes no frame, even if the parts of one frame exceed it.
    """
    game = make_game("armadora", players=3)
    states, rng, pictures = game.new_states(3), np.random.default_rng(0), []
    for _ in range(4):
        action = rng.choice(np.flatnonzero(game.legal_masks(states)[0]))
        game.apply(states, np.array([0]), np.array([action]))
        pictures.append(game.picture(states[0]))
    frames = [picture.pixels(width) for picture in pictures]
    most = 1 << 20
    monkeypatch.setattr(raster, "_KEPT", raster._Kept(1024, most))
    gc.collect()
    tracemalloc.start()
    try:
        for picture, frame in zip(pictures, frames, strict=True):
            assert np.array_equal(picture.pixels(width), frame)
            gc.collect()
            # Other memory may take 1 MiB more than the pixels.
            assert tracemalloc.get_traced_memory()[0] < most + (1 << 20)
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("resvg")
def test_a_frame_belongs_to_the_caller():
    picture = GAME.picture(STATE)
    frame = picture.pixels(64)
    frame[:] = 0
    assert picture.pixels(64).any()


@pytest.mark.usefixtures("resvg")
@pytest.mark.parametrize("width", [0, -4, 15, 5000])
def test_impossible_widths_are_refused(width):
    with pytest.raises(ValueError, match=r"width of a picture must be .*16"):
        GAME.picture(STATE).pixels(width)
