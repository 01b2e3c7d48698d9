"""Shipped policies that `scripts/policies/ship_policy.py` makes from the policies of runs."""

import pytest

import ship_policy
import tiny
from armarl.common.files import POLICY_FILE
from armarl.policies.saved_policy import load_policy, save_policy
from armarl_training.config.training_config import TrainingConfig
from armarl_training.run.run import start_run


def run_of(folder, **changes):
    """Return a finished run that was measured once before its end."""
    settings = tiny.settings(total_decisions=400, checkpoint_every_minutes=1000, **changes)
    settings["evaluation"] = {"opponents": ["random"], "progress_games": 4, "games": 4}
    run = start_run(TrainingConfig.model_validate(settings), folder)
    assert run.train()
    return folder


def test_a_policy_that_continued_its_training_has_the_facts_of_both_runs(tmp_path):
    shipped = tmp_path / "mine.safetensors"
    assert ship_policy.ship(str(shipped), [run_of(tmp_path / "one")], shipped) == []
    first = load_policy(shipped)
    match = {"games": 30, "standings": [{"player": "mine"}, {"player": "greedy"}]}
    save_policy(
        *(shipped, first.game, first.tensors, first.activation),
        training=first.metadata["training"],
        strength=[match],
    )
    folder = run_of(tmp_path / "two", start_from=str(shipped), seed=5)
    since = load_policy(folder / POLICY_FILE).metadata["training"]
    assert ship_policy.ship(str(shipped), [folder], shipped) == ["greedy@30"]
    both, before = load_policy(shipped).metadata, first.metadata["training"]
    training = both["training"]
    assert both["strength"] == []
    assert training["decisions"] == before["decisions"] + since["decisions"]
    assert training["config"]["start_from"] is None
    assert training["config"]["seed"] == 5
    rows = [row["decisions"] for row in training["curve"]]
    assert rows == [before["decisions"], training["decisions"]]
    with pytest.raises(ValueError, match="already has these weights"):
        ship_policy.ship(str(shipped), [folder], shipped)
    # If a policy trained from scratch replaces this one, the file describes only the new run.
    other = run_of(tmp_path / "three", seed=6)
    ship_policy.ship(str(shipped), [other], shipped)
    anew = load_policy(other / POLICY_FILE).metadata["training"]
    assert load_policy(shipped).metadata["training"] == anew


def test_several_runs_are_joined_and_paths_of_opponents_are_removed(tmp_path):
    shipped = tmp_path / "mine.safetensors"
    one = run_of(tmp_path / "one")
    players = {"greedy": 1, str(one): 2}
    two = run_of(tmp_path / "two", start_from=str(one), opponents={"players": players})
    ship_policy.ship("mine", [one, two], shipped)
    training = load_policy(shipped).metadata["training"]
    assert training["decisions"] == sum(
        load_policy(run / POLICY_FILE).metadata["training"]["decisions"] for run in (one, two)
    )
    assert training["config"]["opponents"]["players"] == {"greedy": 1, "one": 2}
    assert training["config"]["start_from"] is None
    with pytest.raises(ValueError, match=r"one must have started from .*two, not from"):
        ship_policy.ship("mine", [two, one], shipped)
    ship_policy.ship("mine", [one, two], shipped, mean=2)
    first, last, mean = (
        load_policy(path).tensors for path in (one / POLICY_FILE, two / POLICY_FILE, shipped)
    )
    for part, weights in mean.items():
        assert weights == pytest.approx((first[part] + last[part]) / 2, abs=1e-6)
    assert any((mean[part] != last[part]).any() for part in mean)
    with pytest.raises(ValueError, match="--mean must be from 1 to 2, the number of runs, not 3"):
        ship_policy.ship("mine", [one, two], shipped, mean=3)


@pytest.mark.parametrize(
    ("before", "since", "told"),
    [
        ({}, {}, {"cores": 2}),
        ({}, {"gpu": "H"}, {"cores": 2, "gpu": "H for the last 20 million decisions"}),
        ({"gpu": "G"}, {}, {"cores": 2, "gpu": "G for the first 90 million decisions"}),
        (
            {"gpu": "G for the first 30 million decisions"},
            {"gpu": "H"},
            {
                "cores": 2,
                "gpu": "G for the first 30 million decisions, H for the last 20 million decisions",
            },
        ),
        (
            {"gpu": "G for the last 30 million decisions"},
            {"gpu": "G"},
            {
                "cores": 2,
                "gpu": "G for 30 million decisions, G for the last 20 million decisions",
            },
        ),
    ],
)
def test_each_gpu_is_named_with_its_run(before, since, told):
    parts = [
        {
            **{"config": {"start_from": None}, "minutes": 1.0, "curve": []},
            **{"decisions": decisions, "hardware": {"cores": cores, **gpu}},
        }
        for decisions, cores, gpu in ((90_000_000, 1, before), (20_000_000, 2, since))
    ]
    assert ship_policy.joined(*parts)["hardware"] == told
