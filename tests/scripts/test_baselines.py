"""The command for baselines with several seeds: its tables, its picture, and continued runs."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import baselines
from armarl.games.make_game import make_game
from armarl_training.config.training_config import TrainingConfig

SMALL = {
    "game": "armadora",
    "options": {"players": 2, "board": "mini"},
    "total_decisions": 300,
    "environments": 4,
    "ppo": {"rollout_length": 32, "minibatch": 64},
    "evaluation": {"opponents": ["random"], "progress_games": 4, "games": 6, "workers": 1},
}


def test_maskable_ppo_learns_in_every_baseline():
    known = baselines.baselines(1000)
    maskable = [config for config in known.values() if config.learner == "maskable_ppo"]
    tables = {str(make_game(config.game, **config.options).variant) for config in maskable}
    assert len(maskable) == len(tables) == 12
    assert set(known) - set(baselines.QUICK) == {n for n in known if n.startswith("maskable-")}


def test_the_band_contains_every_seed():
    one = [{"decisions": 0.0, "wins/greedy": 0.0}, {"decisions": 100.0, "wins/greedy": 0.5}]
    other = [{"decisions": 0.0, "wins/greedy": 0.2}, {"decisions": 50.0, "wins/greedy": 1.0}]
    picture = baselines.drawn([one, other])
    ElementTree.fromstring(picture)
    assert picture.count("<polygon") == picture.count("<polyline") == 1
    assert "against greedy" in picture
    assert "mean and range of 2 seeds" in picture


def test_a_stopped_command_continues_and_writes_its_page(tmp_path, monkeypatch, capsys):
    config = TrainingConfig.model_validate(SMALL)
    monkeypatch.setattr(baselines, "baselines", lambda decisions=0: {"small": config})
    monkeypatch.setattr(sys, "argv", ["baselines.py", str(tmp_path), "--seeds", "2"])

    def stop(*_arguments):
        raise InterruptedError

    with monkeypatch.context() as stopped:
        stopped.setattr(baselines, "_show", stop)
        with pytest.raises(InterruptedError):
            baselines.main()
    assert baselines.main() == 0
    found = json.loads((tmp_path / "baselines.json").read_text("utf-8"))
    played = found["baselines"]["small"]["opponents"]["random"]
    assert (played["games"], played["fair"], len(played["win_rates"])) == (6, 0.5, 2)
    assert found["hardware"]
    with Path(tmp_path / "baselines.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["seed"] for row in rows} == {"1", "2"}
    assert {row["opponent"] for row in rows} == {"random"}
    table = (tmp_path / "baselines.csv").read_bytes()
    assert baselines.main() == 0
    assert (tmp_path / "baselines.csv").read_bytes() == table
    assert "small" in capsys.readouterr().out

    page = tmp_path / "docs" / "baselines.md"
    page.parent.mkdir()
    page.write_text("before\n<!-- baselines -->\nold\n<!-- /baselines -->\nafter\n")
    monkeypatch.setattr(baselines, "DOCS", page.parent)
    monkeypatch.setattr(sys, "argv", ["baselines.py", str(tmp_path), "--page"])
    assert baselines.main() == 0
    mean = 100 * sum(played["win_rates"]) / 2
    written = page.read_text("utf-8")
    assert f"| random | 6 | 50.0 % | {mean:.1f} % (" in written
    assert "old" not in written
    assert written.startswith("before\n")
    assert written.endswith("after\n")
    assert (page.parent / "baselines" / "small.svg").read_text("utf-8").startswith("<svg")
    assert (page.parent / "baselines" / "baselines.csv").read_bytes() == table
