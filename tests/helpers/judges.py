"""Judges with random weights, and variants of games that have a survey."""

from __future__ import annotations

import torch

from armarl import make_game
from armarl_training.networks.value_networks import Judge

GAME = make_game("armadora", players=2)


VARIANTS = [
    {"players": 2},
    {"players": 3},
    {"players": 4, "advanced": True},
    {"players": 2, "board": "mini"},
]


def judge_of(game, seed=0):
    """Return a judge with random weights, so large that its choices differ."""
    torch.manual_seed(seed)
    judge = Judge(game, (12, 8), (6,))
    for weights in judge.parameters():
        torch.nn.init.normal_(weights, 0, 0.3)
    return judge
