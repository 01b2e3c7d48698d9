"""Pictures with names, seats and sizes from strangers. Names are drawn as text, or refused."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from armarl.common.messages import brief
from armarl.core.pictures.picture import Picture
from armarl.core.pictures.sheet import THEMES
from armarl.environments.aec import RawAECEnv
from armarl.environments.seat_env import SeatEnv
from armarl.games.armada.chart.loading import STANDARD
from armarl.games.make_game import make_game

GAMES = {
    "armadora": make_game("armadora"),
    "armada": make_game("armada", players=3, cards=True, max_turns=6),
}
NAMES = (
    "var(--ink)",
    "var(--nothing)",
    "url(#nothing)",
    'href="#nothing"',
    "</title><script>",
    "</g></svg>",
    "<!--",
    "]]>",
    "&#x41;",
    "&nothing;",
    "'\"><b",
    "\ud800\ufffe\u202e\x00\x1b[2J",
    "",
    " ",
    "𝕏" * 60,
    "%s{0}{}\\1\\g<0>",
)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_drawn_as_text(game: str, name: str) -> None:
    """Regression: a name like a colour or like one of the picture's references raised an error."""
    made = GAMES[game]
    names = [name] * made.players
    state = made.new_states(3)[0]
    texts = set()
    for theme in THEMES:
        document = ElementTree.fromstring(made.draw_svg(state, 0, theme=theme, names=names))
        found = filter(None, (element.get("data-text") for element in document.iter()))
        texts.add(tuple(found))
        kinds = {element.tag.rpartition("}")[2] for element in document.iter()}
        assert not kinds & {"script", "b", "image", "foreignObject"}
    assert len(texts) == 1
    shown = " ".join(texts.pop())
    assert brief(name, 40)[:8].strip() in shown


@pytest.mark.parametrize("sign", [*"'#;:$%^*!?,./\\[]{}=+~`@-_éЖ將", "url", "var"])
def test_places_of_a_chart_can_have_any_valid_name(sign: str) -> None:
    """The picture can show any name that the check of charts accepts."""
    chart = STANDARD.read_text("utf-8").replace("G1", f"{sign}1") if sign != "#" else None
    game = make_game("armada", chart=chart, max_turns=6)
    svg = game.draw_svg(game.new_states(1)[0])
    places = {element.get("data-place") for element in ElementTree.fromstring(svg).iter()}
    assert (f"{sign}1" if chart else "G1") in places


WRONG: dict[str, Callable[[Any, Any], object]] = {
    "a seat below": lambda game, state: game.picture(state, -1),
    "a seat above": lambda game, state: game.picture(state, game.players),
    "a seat beyond numbers": lambda game, state: game.picture(state, 10**30),
    "a seat that is true": lambda game, state: game.picture(state, True),
    "a seat that is a text": lambda game, state: game.picture(state, "0"),
    "half a seat": lambda game, state: game.picture(state, 0.5),
    "two states": lambda game, state: game.picture(game.new_states(2)),
    "no state": lambda game, state: game.picture(None),
    "another variant": lambda game, state: game.picture(make_game("armadora", players=4).blank[0]),
    "numbers as a state": lambda game, state: game.picture(np.zeros(3)),
    "an action that is true": lambda game, state: game.picture(state, last=(0, True)),
    "an action beyond numbers": lambda game, state: game.picture(state, last=(0, 10**30)),
    "an action of nobody": lambda game, state: game.picture(state, last=(-1, 0)),
    "an action below": lambda game, state: game.picture(state, 1, last=(0, -1)),
    "three for the last": lambda game, state: game.picture(state, last=(0, 0, 0)),
    "no action": lambda game, state: game.picture(state, last=(0, None)),
    "bytes as names": lambda game, state: game.picture(state, names=b"x" * game.players),
    "names that are counted out": lambda game, state: game.picture(state, names=iter("ab")),
    "a number as names": lambda game, state: game.picture(state, names=2),
    "a state before of another kind": lambda game, state: game.picture(state, before=5),
    "no theme": lambda game, state: game.draw_svg(state, theme=None),
    "a list of themes": lambda game, state: game.draw_svg(state, theme=["light"]),
    "an unknown word": lambda game, state: game.draw_svg(state, colour="red"),
    "a small picture": lambda game, state: game.picture(state).pixels(15),
    "a large picture": lambda game, state: game.picture(state).pixels(4097),
    "a fraction": lambda game, state: game.picture(state).pixels(20.5),
    "not a number": lambda game, state: game.picture(state).png(float("nan")),
    "true pixels": lambda game, state: game.picture(state).png(True),
    "pixels in auto": lambda game, state: game.picture(state).pixels(20, "auto"),
}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_picture_that_cannot_be_drawn_is_refused(game: str, wrong: str) -> None:
    made = GAMES[game]
    with pytest.raises((TypeError, ValueError)) as refused:
        WRONG[wrong](made, made.new_states(3)[0])
    assert len(str(refused.value)) < 500
    assert str(refused.value).isprintable()


def test_a_frame_of_an_environment_is_a_copy_and_needs_a_reset() -> None:
    pytest.importorskip("resvg_py")
    for env in (RawAECEnv(GAMES["armadora"], render_mode="rgb_array"), SeatEnv("armadora")):
        with pytest.raises(AttributeError, match="before reset"):
            env.picture()
        assert env._repr_svg_() is None
        env.reset(seed=1)
        before = env.picture(0)
        frame = before.pixels(64)
        frame[:] = 0  # changes only the caller's copy
        assert before.pixels(64).any()
        assert isinstance(env.picture(0), Picture)
    for width in (0, True, 1e9, "512", None):
        with pytest.raises((TypeError, ValueError), match="render_width must be"):
            SeatEnv("armadora", render_mode="rgb_array", render_width=width)
