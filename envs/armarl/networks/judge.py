"""Judges, which are value networks over a game's survey, in NumPy.

Players use the compiled code of `judge_kernels`. Tests compare the compiled code with the networks
here.

A survey is an observation that a game makes for judges. Most of its features belong to the prizes:
the things for which the sides compete, such as the gold mines of Armadora. A prize's stake is its
worth, such as the amount of gold. The same weights process every prize:

- *near* reads the features around the prize, and *far* reads the rest of the survey.
- *prizes* predicts the share of the prize that each side will take, the observing side first.
- *whole* computes the expected return from all prizes.
- *direct* is a linear layer whose output is added to that of *whole*. Its input is the lead in
  stakes over each other side, divided by the standard deviation of the lead. The standard deviation
  treats the prizes as independent.

A network that predicts each prize as well as the winner learns much more from each game (Wu, 2019).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from armarl.networks.policy_network import (
    Floats,
    NetworkError,
    Tensors,
    check_layers,
    check_tensors,
    flat,
    layer,
    layers,
)

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl.core.observation_table import ObservationTable

PARTS = ("near", "far", "prizes", "whole", "direct")
VARIANCE = 0.003  # a lead's variance when all prizes are decided, in squared shares of all stakes
MARGIN = 0.3  # weight of the lead in `worths`, so that a player that is winning aims for more


class SurveyLayout(NamedTuple):
    """The layout of the survey that a judge reads.

    Attributes:
        prizes: number of prizes.
        features: number of features of each prize. The survey begins with the features of prizes,
            one feature after the other, and each feature has one entry per prize.
        rest: number of entries that do not belong to a prize.
        sides: number of sides.
    """

    prizes: int
    features: int
    rest: int
    sides: int

    @property
    def size(self) -> int:
        """Number of entries of the survey."""
        return self.prizes * self.features + self.rest

    @property
    def whole(self) -> int:
        """Number of inputs of the part *whole*.

        The inputs are the shares of the prizes, the shares weighted by stakes, the leads, and the
        rest of the survey.
        """
        return 2 * self.prizes * self.sides + self.sides - 1 + self.rest


def survey_of(game: Game) -> ObservationTable:
    """Return the survey table of a game.

    Raises:
        ValueError: the game has no survey, so a judge cannot read its positions.
    """
    if game.survey is None:
        raise ValueError(f"{game.name} has no survey, which a judge of positions needs")
    return game.survey


def layout_of(game: Game) -> SurveyLayout:
    """Return the survey layout of a game.

    Raises:
        ValueError: the game has no survey.
    """
    table = survey_of(game)
    prizes = table.blocks[0].shape[-1]
    around = sum(block.size for block in table.blocks if block.on == "prizes")
    return SurveyLayout(prizes, around // prizes, table.size - around, max(game.sides) + 1)


def is_judge(tensors: Tensors) -> bool:
    """Return True if the weights belong to a judge."""
    return layers(tensors, "prizes") > 0


class JudgeNetwork:
    """A judge. Its weights must have passed `check_judge`.

    Attributes:
        tensors: `PART.K.weight` (out, in) and `PART.K.bias` (out,), float32, for layers
            K = 0, 1, ... of each part. Relu is applied between layers, and after *near* and *far*.
    """

    def __init__(self, game: Game, tensors: Tensors) -> None:
        self.tensors, self._layout = tensors, layout_of(game)
        self._layers = {part: layers(tensors, part) for part in PARTS}

    def values(self, surveys: Floats) -> tuple[Floats, Floats]:
        """Return the expected return (n,) and the lead (n,) for surveys (n, size).

        Both are in [-1, 1]. The lead is the mean lead over the other sides, as a share of all
        stakes.
        """
        layout, n = self._layout, len(surveys)
        around = surveys[:, : -layout.rest].reshape(n, layout.features, layout.prizes)
        near, rest = around.transpose(0, 2, 1), surveys[:, -layout.rest :]
        x = self.layer("near", 0, near) + self.layer("far", 0, rest)[:, None]
        for k in range(self._layers["prizes"]):
            x = self.layer("prizes", k, np.maximum(x, 0))
        parts = _logistic(x)  # (n, prizes, sides)
        stakes = around[:, 0] / np.maximum(around[:, 0].sum(axis=1, keepdims=True), 1e-6)
        leads, sure = _leads(parts, stakes)
        weighed = parts * stakes[..., None]
        x = np.concatenate([flat(parts), flat(weighed), sure, rest], axis=1)
        for k in range(self._layers["whole"]):
            x = self.layer("whole", k, np.maximum(x, 0) if k else x)
        x = x + self.layer("direct", 0, sure)
        return np.tanh(x[:, 0] / 2), leads.mean(axis=1)

    def worths(self, surveys: Floats) -> Floats:
        """Return the worth of positions, (n,): a weighted mean of the expected return and the lead.

        The lead has the weight MARGIN. The games must not be over.
        """
        returns, leads = self.values(surveys)
        worths: Floats = (1 - MARGIN) * returns + MARGIN * leads
        return worths

    def layer(self, part: str, k: int, x: Floats) -> Floats:
        """Apply layer `k` of a part to the last axis."""
        return layer(self.tensors, part, k, x)


def _logistic(x: Floats) -> Floats:
    y = np.tanh(x / 2)
    y += 1
    y /= 2
    return y


def _leads(parts: Floats, stakes: Floats) -> tuple[Floats, Floats]:
    """Return the observing side's lead over each other side, and this lead in standard deviations.

    Both arrays have shape (n, sides - 1).
    """
    gaps = parts[..., :1] - parts[..., 1:]
    leads = (stakes[..., None] * gaps).sum(axis=1)
    spread = parts * (1 - parts)
    variances = spread[..., :1] + spread[..., 1:]
    variance = (stakes[..., None] ** 2 * variances).sum(axis=1) + VARIANCE
    return leads, leads / np.sqrt(variance)


def check_judge(game: Game, tensors: Tensors, activation: object, advisers: int) -> None:
    """Refuse weights that do not fit each other or the game.

    Raises:
        NetworkError: the weights do not fit, the activation is not relu, or there are advisers.
    """
    if activation != "relu" or advisers:
        raise NetworkError(
            f"a judge uses relu and no advisers, not {activation!r} and {advisers} advisers"
        )
    try:
        layout = layout_of(game)
    except ValueError as error:
        raise NetworkError(str(error)) from error
    width = _check_part(tensors, "near", layout.features, most=1)
    far = _check_part(tensors, "far", layout.rest, most=1)
    if far != width:
        raise NetworkError(
            "the parts `near` and `far` must have the same number of outputs, not "
            f"{width} and {far}"
        )
    for part, inputs, outputs in (
        ("prizes", width, layout.sides),
        ("whole", layout.whole, 1),
        ("direct", layout.sides - 1, 1),
    ):
        reached = _check_part(tensors, part, inputs)
        if reached != outputs:
            raise NetworkError(f"the part `{part}` has {reached} outputs instead of {outputs}")
    if layers(tensors, "direct") != 1:
        raise NetworkError(f"the part `direct` must have 1 layer, not {layers(tensors, 'direct')}")
    check_tensors(tensors, PARTS)


def _check_part(tensors: Tensors, part: str, inputs: int, most: int | None = None) -> int:
    """Refuse a missing part, and layers that do not fit. Return the part's number of outputs."""
    number = layers(tensors, part)
    if number == 0 or (most is not None and number > most):
        wanted = "1 layer" if most == 1 else "at least 1 layer"
        raise NetworkError(f"the part `{part}` must have {wanted}, not {number}")
    return check_layers(tensors, part, inputs)
