"""The examples of RL libraries run; frameworks.py runs those with clashing pins."""

import json
import sys

import pytest
import torch

from armarl_training.examples import cleanrl, measured, sb3


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread, as the programs do: spinning threads starve each other on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def row_of(make, decisions, monkeypatch, capsys, games=200):
    arguments = ["", "it", "--decisions", str(decisions), "--games", str(games)]
    monkeypatch.setattr(sys, "argv", arguments)
    measured.main("torch", {"it": make})
    row = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert row["illegal"] == 0
    assert row["decisions"] == decisions
    return row


@pytest.mark.parametrize("make", [cleanrl.one_seat, cleanrl.all_seats])
def test_cleanrl_s_loop_learns(make, monkeypatch, capsys):
    row = row_of(make, 8192, monkeypatch, capsys)
    assert row["after"][1] > row["before"][0]  # the interval's lower end
    assert row["after"][0] > 0.55


@pytest.mark.parametrize("make", [sb3.one_seat, sb3.all_seats])
def test_maskable_ppo_plays_no_illegal_action(make, monkeypatch, capsys):
    assert row_of(make, 4096, monkeypatch, capsys, games=20)["games"] == 20
