"""Critics and judges in torch: the value networks of the learners `critic` and `td`.

They give the same results as the NumPy networks that the players use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from armarl.core.game import Game
from armarl.networks.judge import VARIANCE, SurveyLayout, layout_of
from armarl_training.networks.layers import Linear, PolicyNetwork, linears, make_linear, mlp


class Critic(PolicyNetwork):
    """A critic of scripted play, the torch version of the network in `armarl.networks.critic`."""

    def __init__(self, game: Game, widths: Sequence[int]) -> None:
        super().__init__()
        self.layers = mlp([game.observation.size, *widths, 1], "relu", gain=0.1)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return logits (n,). Their sigmoids estimate `(return + 1) / 2`."""
        logits: torch.Tensor = self.layers(observations).squeeze(1)
        return logits

    def parts(self) -> dict[str, list[Linear]]:
        """Return the layers of each part of a saved policy."""
        *trunk, last = linears(self.layers)
        return {"trunk": trunk, "value": [last]}


class Judge(PolicyNetwork):
    """A judge of positions, the torch version of `armarl.networks.judge.JudgeNetwork`."""

    def __init__(self, game: Game, widths: Sequence[int], whole: Sequence[int]) -> None:
        super().__init__()
        self._layout: SurveyLayout = layout_of(game)
        layout = self._layout
        self.near = make_linear(layout.features, widths[0], math.sqrt(2))
        self.far = make_linear(layout.rest, widths[0], 1.0)
        self.prizes = mlp([*widths, layout.sides], "relu", gain=0.1)
        self.whole = mlp([layout.whole, *whole, 1], "relu", gain=0.1)
        self.direct = make_linear(layout.sides - 1, 1, 1.0)
        with torch.no_grad():
            self.direct.weight[:] = 2.0 / (layout.sides - 1)

    def forward(self, surveys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Compute the outputs for surveys of n positions.

        Returns:
            The logits of the return, shape (n,), the logits of each side's share of each prize, own
            side first, shape (n, prizes, sides), and the own side's mean lead over the other sides,
            as a share of all stakes, shape (n,).
        """
        layout, n = self._layout, len(surveys)
        around = surveys[:, : -layout.rest].view(n, layout.features, layout.prizes)
        rest = surveys[:, -layout.rest :]
        near = self.near(around.transpose(1, 2).contiguous())
        taken = self.prizes(torch.relu(near + self.far(rest).unsqueeze(1)))
        parts = torch.sigmoid(taken)
        stakes = around[:, 0] / around[:, 0].sum(1, keepdim=True).clamp_min(1e-6)
        stakes = stakes.unsqueeze(2)
        leads = (stakes * (parts[..., :1] - parts[..., 1:])).sum(1)
        spread = parts * (1 - parts)
        variance = (stakes * stakes * (spread[..., :1] + spread[..., 1:])).sum(1) + VARIANCE
        sure = leads * torch.rsqrt(variance)
        both = torch.cat([parts.flatten(1), (parts * stakes).flatten(1), sure, rest], 1)
        returns = self.whole(both) + self.direct(sure)
        return returns.squeeze(1), taken, leads.mean(1)

    def parts(self) -> dict[str, list[Linear]]:
        """Return the layers of each part of a saved policy."""
        return {
            "near": [self.near],
            "far": [self.far],
            "prizes": linears(self.prizes),
            "whole": linears(self.whole),
            "direct": [self.direct],
        }
