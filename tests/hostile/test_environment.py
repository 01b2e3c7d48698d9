"""Environment variables of a process, and installed packages with games."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from armarl.games import catalogue
from armarl.games.catalogue import OURS, GameEntry

GOOD = GameEntry("othergame", "armarl.games.armadora", "Othergame", "a game from outside", (2,))
SELF = f"{__name__}:"
NO_ENTRY = "no entry"
NAMESAKE = replace(OURS[0], module="os")  # uses the name of another game
SAME_TITLE = replace(GOOD, name="shadow", title=OURS[0].title)  # its environment ids exist already


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that fakes entry points for the catalogue of games."""

    def offer(*values: str) -> None:
        points = [
            EntryPoint(f"p{i}", value, catalogue.ENTRY_POINTS) for i, value in enumerate(values)
        ]
        monkeypatch.setattr(catalogue, "entry_points", lambda group: points)
        monkeypatch.setattr(catalogue, "_looked_for_installed", False)
        monkeypatch.setattr(catalogue, "_entries", {entry.name: entry for entry in OURS})
        monkeypatch.setattr(catalogue, "_broken", [])

    return offer


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module:ENTRY", "ModuleNotFoundError"),
        ("armarl:no_such_name", "AttributeError"),
        (SELF + "NO_ENTRY", "TypeError"),
        (SELF + "NAMESAKE", "another game already has the name 'armadora'"),
        (SELF + "SAME_TITLE", "another game already has the title 'Armadora'"),
    ],
    ids=["module", "name", "text", "namesake", "title"],
)
def test_a_package_with_an_invalid_game_is_reported_and_left_out(
    installed: Any, value: str, reason: str
) -> None:
    """Regression: the first use of the catalogue failed, and later packages were ignored."""
    installed(value, SELF + "GOOD")
    with pytest.warns(UserWarning, match=reason) as told:
        names = catalogue.game_names()
    assert len(told) == 1
    assert names == (*(entry.name for entry in OURS), GOOD.name)
    assert catalogue.game_entry("armadora") == OURS[0]
    warnings.simplefilter("error")  # there is only one warning
    with pytest.raises(ValueError, match=reason):
        catalogue.game_entry("nonsense")


# Invalid values, and a text that stderr must contain.
VARIABLES = [
    ("ARMARL_CACHE_DIR", "relative", "must be an absolute path"),
    ("ARMARL_CACHE_DIR", "/dev/null", "is not a folder"),
    ("ARMARL_CACHE_DIR", "/" + "x" * 300, "too long"),
    ("ARMARL_CACHE_DIR", "/proc/none", "none"),
    ("XDG_CACHE_HOME", "relative", "must be an absolute path"),
    ("XDG_CACHE_HOME", "/dev/null", ""),
    ("HOME", "relative", ""),
    ("HOME", "", ""),
    ("TMPDIR", "/dev/null", ""),
]


@pytest.mark.skipif(os.name != "posix", reason="the paths are POSIX")
@pytest.mark.parametrize(("name", "value", "said"), VARIABLES)
def test_invalid_variables_are_reported(name: str, value: str, said: str, tmp_path: Any) -> None:
    """The package can be imported, and prints at most two lines."""
    environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    for other in ("ARMARL_CACHE_DIR", "XDG_CACHE_HOME"):
        environment.pop(other, None)
    done = subprocess.run(
        [sys.executable, "-c", "import armarl.compiler.decorators"],
        env={**environment, name: value},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert said in done.stderr
