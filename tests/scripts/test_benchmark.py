"""The benchmark measures, reports failed measurements, and writes its page."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import benchmark
from benchmarks import aec, learning, memory, older
from benchmarks.frame import Measurement, Settings, measure, ratio
from benchmarks.ours import OWN_LOOP, PLAYED, WITH
from benchmarks.page import number, page
from benchmarks.peers import CALL, LOOP
from benchmarks.targets import ADVANCED, ARMADA, ARMADORA, targets
from paths import ROOT


def _row(
    section: str, subject: str, how: str, samples: list[float], **other: Any
) -> dict[str, Any]:
    about = {"section": section, "subject": subject, "how": how, "package": "armarl"}
    numbers = {"median": sorted(samples)[1], "low": min(samples), "high": max(samples), "busy": 1.0}
    rest = {"unit": "steps/s", "cores": 2, "batch": 1024, "samples": samples}
    return {**about, **rest, **numbers, **other}


def _results(rows: list[dict[str, Any]]) -> dict[str, Any]:
    machine = {
        "date": "2026-01-01",
        "processor": "P",
        "cores": 2,
        "memory_gib": 8.0,
        "pinned": True,
    }
    machine |= {"system": "S", "python": "3.11", "load_before": 0.0, "packages": {"numpy": "2.4"}}
    settings = {"repeats": 3, "seconds": 1.0, "quick": False}
    held = targets(rows, cores=2)
    return {"machine": machine, "settings": settings, "results": rows, "targets": held}


def test_the_script_measures_and_prints_the_page_of_its_results(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    script = ROOT / "scripts" / "benchmark.py"
    sections = ["--only", "playouts", "--only", "vector", "--only", "memory"]
    done = subprocess.run(
        [sys.executable, script, "--quick", *sections, "--json", file],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(file.read_text("utf-8"))
    assert done.stdout == page(results)
    assert {row["section"] for row in results["results"]} == {"playouts", "vector", "memory"}
    for row in results["results"]:
        assert row.get("missing") == "pgx" or row["median"] > 0, row
    assert results["machine"]["packages"]["numpy"]


def test_steps_are_measured_for_installed_packages() -> None:
    from benchmarks.ours import step_groups

    alone = [m for m in next(step_groups()) if m.subject == ARMADORA or m.package == "pyspiel"]
    rows = measure(alone, Settings(repeats=2, seconds=0.01))
    assert all(len(row["samples"]) == 2 for row in rows if "missing" not in row)
    assert {row["missing"] for row in rows if "missing" in row} <= {"pyspiel"}


def test_missing_packages_and_failures_are_listed() -> None:
    wrong = {"variant": ("armadora", {"players": 5})}
    group = [
        Measurement("playouts", "absent", "", "ours.playouts", package="no_such_module"),
        Measurement("playouts", "broken", "", "ours.playouts", wrong),
        Measurement("memory", "fine", "", "memory.per_game", _state_of_the_first(), unit="bytes"),
    ]
    rows = measure(group, Settings(repeats=2, seconds=0.01))
    assert rows[0]["missing"] == "no_such_module"
    assert "players" in rows[1]["failed"]
    assert len(rows[2]["samples"]) == 2
    text = page(_results(rows))
    assert "Playouts: absent. Reason: `no_such_module` is not installed." in text
    assert f"Playouts: broken. Reason: failed: {rows[1]['failed']}." in text


def _state_of_the_first() -> dict[str, Any]:
    return {"variant": PLAYED[0], "what": memory.STATE}


def test_an_older_version_can_be_measured_together_with_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(older, "tree_of", lambda commit: nullcontext(ROOT))  # instead of a checkout
    probe, options = "memory.per_game", _state_of_the_first()
    state = Measurement("memory", "a game", "state", probe, options, unit="bytes")
    absent = Measurement("memory", "a game", "?", "memory.absent")
    settings = Settings(repeats=2, seconds=0.01)
    rows = list(older.compare("abc123", [[state], [absent]], settings))
    assert (rows[0]["before"], rows[0]["now"], rows[0]["ratio"]) == (336, 336, 1)
    assert "has no attribute 'absent'" in rows[1]["failed"]
    text = page({**_results([]), "older": {"commit": "abc123", "rows": rows}})
    assert "## Compared with abc123" in text
    assert "| a game | state |  | bytes | 336 | 336 | 1.00 |" in text
    assert "| a game | ? |  | steps/s | abc123: " in text


def test_a_comparison_is_added_to_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"subject": "a game", "how": "state", "batch": None, "unit": "bytes"}
    row |= {"before": 672, "now": 336, "ratio": 0.5}
    monkeypatch.setattr(older, "compare", lambda commit, groups, settings: iter([row]))
    file = tmp_path / "results.json"
    monkeypatch.setattr(sys, "argv", ["benchmark", "--against", "abc123", "--json", str(file)])
    with pytest.raises(SystemExit):
        benchmark.main()
    assert "does not exist: write it first" in capsys.readouterr().err
    file.write_text(json.dumps(_results([])))
    assert benchmark.main() == 0
    assert json.loads(file.read_text()) == {
        **_results([]),
        "older": {"commit": "abc123", "rows": [row]},
    }


def test_ratios_are_computed_for_each_round() -> None:
    ours = _row("steps", ARMADORA, WITH, [10.0, 40.0, 90.0])
    peer = _row("steps", "Pgx connect_four", "", [10.0, 20.0, 30.0], package="pgx")
    assert ratio(ours, peer) == 2.0


def test_targets_are_met_missed_or_not_measured() -> None:
    rows = [
        _row("playouts", ARMADORA, "", [5e6, 7e6, 9e6], cores=1),
        _row("playouts", ADVANCED, "", [1e6, 2e6, 9e6], cores=1),
        _row("steps", ARMADORA, WITH, [3e6, 3e6, 3e6]),
        _row("steps", ARMADORA, OWN_LOOP, [3.5e6, 3.5e6, 3.5e6]),
        _row("steps", "Pgx connect_four", CALL, [1e6, 1e6, 1e6], package="pgx"),
        _row("steps", "Pgx connect_four", LOOP, [1e6, 1e6, 1e6], package="pgx"),
        _row("steps", "Pgx connect_four", f"{LOOP}, split", [2.5e6] * 3, package="pgx"),
        _row("learning", ARMADA, learning.OURS, [95.0, 95.0, 95.0]),
        _row("learning", ARMADA, learning.FREE, [100.0, 100.0, 100.0]),
        _row("aec", aec.PEER, "env()", [10.0, 10.0, 10.0], cores=1),
        _row("aec", ARMADORA, "env()", [99.0, 99.0, 99.0], cores=1),
        _row("aec", ADVANCED, "env()", [89.0, 89.0, 89.0], cores=1),
        _row("aec", aec.PEER, "raw_env()", [10.0, 10.0, 10.0], cores=1),
        _row("aec", ADVANCED, "raw_env()", [61.0, 61.0, 61.0], cores=1),
        _row("memory", ARMADORA, memory.STATE, [5000.0] * 3, cores=1, unit="bytes"),
    ]
    met = {target["target"]: target["met"] for target in targets(rows, cores=2)}

    def said(start: str) -> bool | None:
        return next(met[name] for name in met if name.startswith(start))

    assert said(f"{ARMADORA}: playouts") is True
    assert said(f"{ADVANCED}: playouts") is False
    assert said(f"{ARMADA}: playouts") is None
    against_pgx = f"{ARMADORA}: {WITH} on 2 cores, times Pgx connect_four"
    assert said(f"{against_pgx}, {CALL}") is True  # a ratio of 3
    assert said(f"{against_pgx}, {LOOP}") is False  # a ratio of 1.4 to its faster form
    assert said(f"{ARMADA}: MaskablePPO") is True
    assert said("Armadora, slowest variant: AEC env()") is False
    assert said("Armadora, slowest variant: AEC raw_env()") is True
    assert said("Armada, slowest variant: AEC env()") is None
    assert said(f"{ARMADORA}: bytes of state") is False


def test_the_page_says_where_other_packages_are_faster() -> None:
    rows = [
        _row("steps", ARMADORA, WITH, [4e6, 4e6, 4e6]),
        _row("steps", ARMADA, WITH, [1e6, 1e6, 1e6]),
        _row("steps", "Pgx connect_four", "", [2e6, 2e6, 2e6], package="pgx"),
        _row("steps", "EnvPool ConnectFour-v1", "", [2e5, 2e5, 2e5], package="envpool"),
    ]
    text = page(_results(rows))
    assert f"- 2 cores: Pgx connect_four (2 M steps/s) is faster than {ARMADA} (×2.0)." in text
    assert (
        "every ArmaRL game in the table is faster than EnvPool ConnectFour-v1 (200 k steps/s)."
        in text
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(6_123_456, "6.12 M"), (345_000, "345 k"), (999_900, "1 M"), (0.912, "0.912")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_the_page_in_the_docs_is_made_from_its_results() -> None:
    results = json.loads((ROOT / "docs" / "environments" / "benchmarks.json").read_text("utf-8"))
    assert (ROOT / "docs" / "environments" / "benchmarks.md").read_text("utf-8") == page(results)
