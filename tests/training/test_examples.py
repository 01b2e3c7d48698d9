"""The examples with RL libraries run. `frameworks.py` runs those whose versions conflict."""

import json
import sys

import pytest
import torch

from armarl.environments.self_play_batch import SelfPlayBatch
from armarl_training.examples import cleanrl, measured, sb3


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread, as the programs do, because spinning threads slow each other."""
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
def test_cleanrl_s_loop_improves_the_policy(make, monkeypatch, capsys):
    row = row_of(make, 8192, monkeypatch, capsys)
    assert row["after"][1] > row["before"][0]  # the lower end of the confidence interval
    assert row["after"][0] > 0.55


@pytest.mark.parametrize("make", [sb3.one_seat, sb3.all_seats])
def test_maskable_ppo_plays_no_illegal_action(make, monkeypatch, capsys):
    assert row_of(make, 4096, monkeypatch, capsys, games=20)["games"] == 20


class _EnoughError(Exception):
    """Raised when the first rollout is complete."""


def test_cleanrl_s_advantages_are_equal_to_those_of_a_slow_loop_for_each_seat(monkeypatch):
    """Other seats decide between two decisions of a seat, and their values must not be used."""
    turns, kept = [], []
    real = SelfPlayBatch.step

    def step(batch, actions):
        turn = real(batch, actions)
        turns.append((turn.seats.copy(), turn.rewards.copy(), turn.ends.copy()))
        return turn

    def update(agent, optimiser, rows):
        kept.append(rows)
        raise _EnoughError

    monkeypatch.setattr(SelfPlayBatch, "step", step)
    monkeypatch.setattr(cleanrl, "update", update)
    with pytest.raises(_EnoughError):
        cleanrl.all_seats(10**6, 0).train()
    (rows,) = kept
    first = SelfPlayBatch(measured.GAME, cleanrl.ENVS).reset(seed=0).seats
    movers = [first, *(seats for seats, _, _ in turns[:-1])]
    values, checked = rows.values.numpy(), 0
    for game in range(0, cleanrl.ENVS, 7):
        own = {0: [], 1: []}  # by seat: the steps of its decisions in the current game
        for t in range(cleanrl.STEPS):
            own[int(movers[t][game])].append(t)
            over = turns[t][2][game] != 0
            if not over and t < cleanrl.STEPS - 1:
                continue
            for seat, steps in own.items():
                advantage = 0.0
                for k in reversed(range(len(steps))):
                    here, last = steps[k], k == len(steps) - 1
                    if last and not over:
                        assert not rows.known[here, game]
                        continue
                    gained = turns[t][1][game, seat] if last else values[steps[k + 1], game]
                    advantage = gained - values[here, game] + cleanrl.LAMBDA * advantage
                    assert rows.known[here, game]
                    assert float(rows.advantages[here, game]) == pytest.approx(advantage, abs=1e-5)
                    checked += 1
            own = {0: [], 1: []}
    assert checked > 100
