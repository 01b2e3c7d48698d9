"""The progress of a run: its table, curve and ratings, and their copy in its policy."""

import csv
import errno
import os
import re
import shutil
import signal
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

import tiny
from armarl.arena.policy_card import read_card
from armarl.arena.policy_card_text import card_text
from armarl.core.threads import available_cores
from armarl.games.make_game import make_game
from armarl.policies.saved_policy import load_policy, read_policy_metadata
from armarl.roster.make_player import make_player
from armarl_training.common.hardware import processor
from armarl_training.config.sections import EvaluationConfig
from armarl_training.config.training_config import TrainingConfig
from armarl_training.run.anchors import Anchors
from armarl_training.run.progress import MOST_MEASURED, RETURNS, ProgressLog, curve
from armarl_training.run.run import resume_run, start_run

SETTINGS = TrainingConfig(
    **tiny.settings(
        total_decisions=1536,
        checkpoint_every_minutes=1e-6,
        evaluation={"progress_games": 4, "opponents": ["random"]},
    )
)


def stopped_once(folder):
    """Stop a run after its first update, and resume it until its end."""
    run = start_run(SETTINGS, folder)
    assert not run.train(lambda _report: os.kill(os.getpid(), signal.SIGINT))
    assert resume_run(folder).train()


def table(folder):
    with (folder / "progress.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_events_before_the_first_checkpoint_are_removed_by_a_restart(tmp_path, monkeypatch):
    """Regression: TensorBoard showed them twice if a run was killed and started again."""
    from torch.utils import tensorboard

    seen = []
    writer = tensorboard.SummaryWriter

    def watched(folder, purge_step=None):
        seen.append(purge_step)
        return writer(folder, purge_step=purge_step)

    monkeypatch.setattr(tensorboard, "SummaryWriter", watched)
    start_run(SETTINGS, tmp_path / "run").close()
    run = resume_run(tmp_path / "run")
    assert not run.train(lambda _report: os.kill(os.getpid(), signal.SIGINT))
    assert run.train()  # the second call writes to a new file, and removes nothing from the old one
    assert seen == [0, None]


def curve_of(path):
    """Return the curve of its run that a policy contains, without times."""
    rows = read_policy_metadata(path)["training"]["curve"]
    return [{name: value for name, value in row.items() if name != "minutes"} for row in rows]


def test_a_run_keeps_its_progress(tmp_path):
    """The run plays against the anchors at checkpoints, and keeps the best policy.

    Its table continues after a stop.
    """
    stopped_once(tmp_path / "run")
    rows = table(tmp_path / "run")
    decisions = [float(row["decisions"]) for row in rows]
    assert decisions == sorted(decisions)
    assert decisions[-1] >= SETTINGS.total_decisions
    rates = [float(row["wins/random"]) for row in rows if row["wins/random"]]
    best = read_policy_metadata(tmp_path / "run" / "best.safetensors")
    first_best = next(r for r in rows if r["wins/random"] and float(r["wins/random"]) == max(rates))
    assert best["training"]["decisions"] == float(first_best["decisions"])
    drawing = (tmp_path / "run" / "curve.svg").read_text("utf-8")
    assert ElementTree.fromstring(drawing).tag.endswith("svg")
    assert "against random" in drawing
    words = ElementTree.fromstring(drawing).itertext()
    assert {"games won", "decisions learned from", "rating (Elo points)"} <= set(words)
    ratings = [float(row["rating"]) for row in rows if row["rating"]]
    # With one anchor, the rating follows from the win rate, with a tenth of a drawn game added.
    shares = [(4 * rate + 0.1) / 4.2 for rate in rates]  # 2 tables, each with its tenth of a game
    assert ratings == pytest.approx([400 * np.log10(x / (1 - x)) for x in shares], abs=0.01)


def test_events_after_the_last_checkpoint_are_not_shown_twice_after_a_kill(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def note(log, steps):
        for decisions in steps:
            log.note({"decisions": float(decisions), "minutes": 1.0, "loss": 0.5})

    killed = ProgressLog(tmp_path)
    note(killed, (10, 20))
    killed.draw()  # as at each checkpoint
    note(killed, (30, 40))
    killed.close()
    log = ProgressLog(tmp_path)
    log.take_up(20)
    note(log, (35, 45))
    log.close()
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [event.step for event in events.Scalars("loss")] == [10, 20, 35, 45]


@pytest.mark.parametrize(
    "variant", [("armadora", {}), ("armadora", {"players": 3}), ("armadora", {"players": 4})]
)
def test_a_copy_of_an_anchor_gets_the_rating_of_the_anchor(variant, tmp_path):
    """The ratings also count the games between anchors.

    The copy and the anchor draw no random numbers. They therefore play a deal in the same way at
    every seat, and each plays exactly the same games against the other anchor.
    """
    game = make_game(variant[0], **variant[1])
    anchor = str(tiny.policy(tmp_path, game, seed=3))
    settings = EvaluationConfig(opponents=(anchor, "random"), progress_games=24)
    rates, rating = Anchors(game, settings, tmp_path).measure(load_policy(anchor))
    assert rates[anchor] == pytest.approx(1 / len(set(game.sides)), abs=1e-12)
    assert rating == pytest.approx(0, abs=1e-3)
    settings = EvaluationConfig(opponents=("random", "greedy"), progress_games=24)
    anchors = Anchors(game, settings, tmp_path)
    greedy = make_player("greedy", game)
    rates, rating = anchors.measure(greedy)
    assert list(rates) == ["random", "greedy"]
    assert rating > 150
    assert anchors.measure(make_player("random", game)).rating == pytest.approx(0, abs=120)
    assert anchors.measure(greedy) == (rates, rating)


def test_ratings_with_other_anchors_are_not_in_the_curve(tmp_path):
    """The table keeps all ratings.

    The curve and the policies have only those with the current anchors.
    """
    folder = tmp_path / "run"
    assert start_run(SETTINGS, folder).train()
    before = [row["rating"] for row in table(folder)]
    more = ["total_decisions=2560", "evaluation.opponents=[greedy,random]"]
    resume_run(folder, more).close()  # as if the run had been killed before its first checkpoint
    run = resume_run(folder)
    assert not run.log.measured()
    seen = []
    assert run.train(lambda report: seen.append(report.rating))
    assert seen[0] is None
    assert seen[-1] is not None
    rows = table(folder)
    assert [row["rating"] for row in rows[: len(before)]] == before
    rated = [row for row in rows if row["rating"]]
    of_now = [row for row in rated if row["scale"] == "1"]
    assert 0 < len(of_now) < len(rated)
    assert of_now == rated[-len(of_now) :]
    for name in ("policy", "best"):
        kept = curve_of(folder / f"{name}.safetensors")
        ratings = [float(row["rating"]) for row in of_now]
        assert [row["rating"] for row in kept] == ratings[: len(kept)]
        assert kept
    assert drawn_ratings(folder) == len(of_now)
    same = resume_run(folder, ["evaluation.progress_games=6", "total_decisions=3072"])
    assert same.train()
    assert {row["scale"] for row in table(folder) if row["rating"]} == {"", "1"}
    assert resume_run(folder, ["evaluation.opponents=[greedy]"]).log.scale == 2


def drawn_ratings(folder):
    """Return the number of points in the curve of ratings."""
    drawing = ElementTree.fromstring((folder / "curve.svg").read_text("utf-8"))
    (line,) = (shape for shape in drawing.iter() if shape.get("stroke") == "#000")
    return len(line.get("points").split())


# --- the copy of a run's progress in its policy --------------------------------------------------


def test_a_policy_contains_the_progress_of_its_run(tmp_path):
    """The progress is equal to the run's table, even if the run was stopped in between.

    The best policy so far also contains it.
    """
    stopped_once(tmp_path / "stopped")
    assert start_run(SETTINGS, tmp_path / "whole").train()
    curve = curve_of(tmp_path / "stopped")
    assert curve == curve_of(tmp_path / "whole")
    measured = {row["decisions"]: row for row in table(tmp_path / "stopped") if row["rating"]}
    assert len(measured) >= 4
    names = ("decisions", "rating", "wins/random")
    assert curve == [{name: float(row[name]) for name in names} for row in measured.values()]
    best = read_policy_metadata(tmp_path / "whole" / "best.safetensors")["training"]
    assert best["curve"][-1]["decisions"] == best["decisions"]
    assert curve_of(tmp_path / "whole" / "best.safetensors") == [
        row for row in curve if row["decisions"] <= best["decisions"]
    ]
    card = read_card(tmp_path / "whole")
    assert [row["rating"] for row in card.training.curve] == [row["rating"] for row in curve]
    assert "short matches against the anchors" in card_text(card)


def test_a_policy_contains_the_hardware_of_its_training(tmp_path):
    path = start_run(SETTINGS, tmp_path / "run").export()
    assert read_policy_metadata(path)["training"]["hardware"] == {
        "processor": processor(),
        "cores": available_cores(),
        "torch": torch.__version__,
    }
    assert processor()
    assert f"processor {processor()}, cores {available_cores()}, torch " in card_text(
        read_card(path)
    )


def test_a_policy_contains_at_most_a_hundred_rows(tmp_path):
    log = ProgressLog(tmp_path)
    log.rows = [{"decisions": 10.0 * k, "minutes": 1.0, "rating": k + 1 / 3} for k in range(1234)]
    kept = log.measured()
    assert len(kept) == MOST_MEASURED
    assert (kept[0]["decisions"], kept[-1]["decisions"]) == (0, 12_330)
    assert kept[-1]["rating"] == 1233.33


def test_no_row_is_lost_when_the_number_of_decisions_is_large(tmp_path):
    """Regression: only six digits were written, so a row could seem later than its checkpoint."""
    log = ProgressLog(tmp_path)
    log.rows = [{"decisions": 29_107_850.0, "minutes": 9.25, "rating": 123.456789}]
    log.draw()
    again = ProgressLog(tmp_path)
    again.take_up(29_107_850)
    assert again.rows == [{"decisions": 29_107_850.0, "minutes": 9.25, "rating": 123.457}]


def test_a_curve_can_show_ratings_with_an_overflowing_difference():
    rows = [{"decisions": x, "rating": y} for x, y in ((0, 1e308), (1, -1e308), (2, 0.0))]
    assert ElementTree.fromstring(curve(rows)) is not None
    assert "inf" not in curve(rows)
    assert "nan" not in curve(rows)


def test_returns_of_three_sides_are_drawn_as_win_rates():
    """Regression: the curve of a game with three sides showed 25 % if all games were lost."""
    rows = [
        {"decisions": x, f"{RETURNS}greedy": y} for x, y in ((0.0, -0.5), (1.0, 0.0), (2.0, 1.0))
    ]
    heights = {}
    for sides in (2, 3):
        (line,) = re.findall(r'<polyline[^>]* points="([^"]*)"', curve(rows, sides=sides))
        heights[sides] = [float(point.split(",")[1]) for point in line.split()]
    (low, third, high), (quarter, half, top) = heights[3], heights[2]
    assert high == top
    assert (low - third) / (low - high) == pytest.approx(1 / 3, abs=0.01)
    assert low - quarter == pytest.approx((low - high) / 4, abs=1)
    assert low - half == pytest.approx((low - high) / 2, abs=1)


class _Full:
    """A writer of events whose disk is full, from the start or from the first event."""

    def __init__(self, *_arguments, at_once=False, **_more):
        if at_once:
            raise OSError(errno.ENOSPC, "No space left on device")

    def _fail(self, *_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    add_scalar = flush = close = _fail


@pytest.mark.parametrize("broken", ["tensorboard", "start", "events", "progress.csv", "curve.svg"])
def test_a_run_continues_if_its_progress_cannot_be_written(broken, tmp_path, monkeypatch, caplog):
    """Regression: if TensorBoard's folder was missing or full, a run ended without a checkpoint."""
    from torch.utils import tensorboard

    if broken in ("start", "events"):
        fails = partial(_Full, at_once=broken == "start")
        monkeypatch.setattr(tensorboard, "SummaryWriter", fails)

    def spoil(_report):
        path = tmp_path / "run" / broken
        if broken == "tensorboard" and path.is_dir():
            shutil.rmtree(path)
            path.write_text("not a folder", "utf-8")
        elif broken.startswith(("progress", "curve")) and not path.is_dir():
            path.unlink(missing_ok=True)
            path.mkdir()

    assert start_run(SETTINGS, tmp_path / "run").train(spoil)
    said = caplog.messages
    shown = "tensorboard" if broken in ("start", "events") else broken
    told = [line for line in said if line.endswith("the training continues")]
    assert len(told) == 1
    assert f"{shown} cannot be written" in told[0]
    if broken == "progress.csv":
        (tmp_path / "run" / broken).rmdir()  # the next run would refuse this folder
    run = resume_run(tmp_path / "run", ["total_decisions=1536"])
    assert run.decisions >= 1536
    run.close()
