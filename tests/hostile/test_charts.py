"""Armada charts from untrusted sources are refused quickly with a short error, and open no file."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from armarl.games.armada.chart.loading import STANDARD, ChartError, load_chart
from armarl.games.make_game import make_game, restore_game

TEXT = STANDARD.read_text(encoding="utf-8")
WHOLE = load_chart().as_dict()


@pytest.fixture(autouse=True)
def _soon() -> Iterator[None]:
    """Fail if a test takes long. The limit is far above the usual time."""
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < 20


def changed(**parts: Any) -> dict[str, Any]:
    return {**WHOLE, **parts}


def with_launches(each: int) -> dict[str, Any]:
    """Return the standard chart with `each` more sea squares next to each of the twelve cities."""
    cities = [t["name"] for t in WHOLE["territories"] if t["city"]]
    squares = [f"q{i}" for i in range(each)]
    borders = [[city, square] for city in cities for square in squares]
    return changed(sea=WHOLE["sea"][:10] + squares, borders=borders + land_borders())


def land_borders() -> list[list[str]]:
    known = {t["name"] for t in WHOLE["territories"]} | set(WHOLE["sea"][:10])
    kept = [border for border in WHOLE["borders"] if known.issuperset(border)]
    bordered = {name for border in kept for name in border}
    return kept + [[name, WHOLE["sea"][0]] for name in sorted(known - bordered)]


def test_more_launches_than_a_state_can_store_are_refused() -> None:
    """Regression: the index of launches was a signed byte, so the 128th was outside the array."""
    with pytest.raises(ChartError, match="at most 127"):
        load_chart(with_launches(11))


BAD_MAPPINGS: dict[str, Any] = {
    "a million squares": changed(sea=[f"x{i}" for i in range(10**6)]),
    "a million borders": changed(borders=[["G1", "G2"]] * 10**6),
    "a million territories": changed(territories=WHOLE["territories"] * 20_000),
    "a long name": changed(sea=[*WHOLE["sea"], "x" * 10**6]),
    "a terminal's commands": changed(sea=[*WHOLE["sea"], "\x1b[2J"]),
    "what parts records": changed(sea=[*WHOLE["sea"], "a|b"]),
    "markup": changed(sea=[*WHOLE["sea"], "<script>"]),
    "an attribute": changed(sea=[*WHOLE["sea"], 'x"onload="x']),
    "a colour of pictures": changed(sea=[*WHOLE["sea"], "var(--x)"]),
    "a list for a lair": changed(territories=[{"name": "a", "lair": [], "island": "b"}]),
    "commands for a post": changed(territories=[{**WHOLE["territories"][0], "post": "\x1b[2J"}]),
    "a list for a post": changed(territories=[{**WHOLE["territories"][30], "post": [[]]}]),
    "commands in a border": changed(borders=[*WHOLE["borders"], ["\x1b[2J", "G1"]]),
    "a border of a long name": changed(borders=[*WHOLE["borders"], ["G1", "x" * 10**6]]),
    "a number of 5,000 digits": changed(sea=[10**5000]),
    "one among others": changed(borders=[[1, 10**5000]]),
    "one alone": 10**5000,
    "keys that are numbers": {1: 2},
    "a number": 7,
}


@pytest.mark.parametrize("name", BAD_MAPPINGS)
def test_invalid_mappings_are_refused(name: str) -> None:
    with pytest.raises(ChartError) as caught:
        load_chart(BAD_MAPPINGS[name])
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()


def beginning(part: str, lines: str) -> bytes:
    """Return the standard chart's file with extra lines at the beginning of a part."""
    assert TEXT.count(f"\n[{part}]\n") == 1
    return TEXT.replace(f"\n[{part}]\n", f"\n[{part}]\n{lines}\n").encode()


BAD_FILES: dict[str, bytes] = {
    "deep.json": b"[" * 100_000,
    "digits.json": b'{"territories": ' + b"9" * 5000 + b"}",
    "nan.json": b"NaN",
    "latin.txt": TEXT.encode().replace(b"Fern", b"F\xe4rn"),
    "zeros.txt": bytes(10**6),
    "large.txt": b"." * (2**20 + 1),
    "wide.txt": beginning("map", "\n".join(["." * 56] * 3000)),
    "sea.txt": beginning("map", "\n".join([".-" * 28, "-." * 28] * 30)),
    "markup.txt": TEXT.replace("G1", "<script>").encode(),
    "name.txt": TEXT.replace("Fern", "F\x1b[2J").encode(),
    "taken.txt": beginning("territories", "A \x1b[2J red R\nA x red R"),
    "symbol.txt": beginning("territories", "++ \x1b[2J red R"),
    "join.txt": f"{TEXT}\n[borders]\njoin \x1b[2J {'x' * 10**5}\n".encode(),
    "part.txt": f"{TEXT}\n[borders]\npart \x1b[2J {'x' * 10**5}\n".encode(),
    "secrets.txt": b"root:x:0:0:root:/root:/bin/bash -- and so on, for more than a line can hold\n",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_invalid_files_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(BAD_FILES[name])
    with pytest.raises(ChartError) as caught:
        load_chart(tmp_path / name)
    assert "and so on" not in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(tmp_path))
    assert str(caught.value).isprintable()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_file_that_is_not_regular_is_not_read(tmp_path: Path) -> None:
    """Regression: a pipe without a writer blocked, and /dev/zero filled the memory."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(ChartError, match="not a regular file of at most"):
            load_chart(path)
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        load_chart("a\0b")


def test_a_chart_in_a_file_must_be_its_content() -> None:
    for content in (None, TEXT, WHOLE):
        assert restore_game("armada", {"chart": content}) is make_game("armada")
    for other in ("/etc/passwd", "standard.txt", STANDARD, 7, ["a\nb"]):
        for option in ("chart", "dice"):
            with pytest.raises(ValueError, match=f"must contain the {option} itself in the option"):
                restore_game("armada", {option: other})


def test_the_options_of_a_game_with_a_chart_can_be_restored() -> None:
    other = json.loads(json.dumps(changed(sea=[f"{name}x" for name in WHOLE["sea"]])))
    renamed = [[f"{n}x" if n in WHOLE["sea"] else n for n in border] for border in WHOLE["borders"]]
    game = make_game("armada", chart={**other, "borders": renamed})
    assert restore_game("armada", game.options) is game
