"""The networks of saved policies, computed with NumPy.

A network has dense layers over the flat observation: a *trunk*, a *policy* head with one logit per
action, and a *value* head.

A network can also have parts for a board (see `armarl.networks.board_layout`). They process every
cell:

- *cells* reads a cell and its neighbours. On a chart its second layer reads the neighbours again.
- *mix* adds the trunk's output to each cell.
- *at* scores the actions on a cell.
- *ends* and *between* score the actions between two cells.
- The value head reads the mean of all cells together with the trunk's output.

Advisers are scripted players (see `armarl.players.advice`). The part *trust* has one output for
each adviser, which is added to the logit of this adviser's action.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armarl.networks.board_layout import Looking, Places, places_of

if TYPE_CHECKING:
    from armarl.core.game import Game

FLAT_PARTS = ("trunk", "policy", "value")
BOARD_PARTS = ("cells", "mix", "at", "ends", "between")
PARTS = (*FLAT_PARTS, *BOARD_PARTS, "trust")
MOST_LAYERS = 32  # maximum number of layers of one part
MOST_UNITS = 1 << 16  # maximum number of outputs of one layer
ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0, out=x),
    "tanh": lambda x: np.tanh(x, out=x),
}

Tensors = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float32]


class NetworkError(ValueError):
    """Weights that do not fit each other or the game."""


def layer(tensors: Tensors, part: str, k: int, x: Floats) -> Floats:
    """Apply layer `k` of a part to the last axis."""
    y: Floats = x @ tensors[f"{part}.{k}.weight"].T
    y += tensors[f"{part}.{k}.bias"]
    return y


class Network:
    """A network. Its weights must have passed `check_network`.

    Attributes:
        tensors: `PART.K.weight` (out, in) and `PART.K.bias` (out,), float32, for layers
            K = 0, 1, ... of each part.
        activation: "relu" or "tanh", for the trunk and the heads. The board parts always use relu.
    """

    def __init__(self, game: Game, tensors: Tensors, activation: str) -> None:
        self.tensors, self.activation = tensors, activation
        self._layers = {part: layers(tensors, part) for part in PARTS}
        self._places = places_of(game) if has_board(tensors) else None
        self._looking = Looking(self._places) if self._places else None

    def logits(self, x: Floats, advice: NDArray[np.int64]) -> Floats:
        """Return the logits (n, actions) for observations (n, size) and advice (n, advisers)."""
        seen, cells = self._both(x)
        logits = self._logits(seen, cells)
        if self._layers["trust"]:
            rows = np.arange(len(x))[:, None]
            np.add.at(logits, (rows, advice), self.layer("trust", 0, seen))
        return logits

    def values(self, x: Floats) -> Floats:
        """Return the expected return (n,) for observations (n, size)."""
        return self._value(*self._both(x))

    def layer(self, part: str, k: int, x: Floats) -> Floats:
        """Apply layer `k` of a part to the last axis."""
        return layer(self.tensors, part, k, x)

    def _both(self, x: Floats) -> tuple[Floats, Floats | None]:
        """Return the trunk's output, and the features of every cell (None without board parts)."""
        seen = x
        for k in range(self._layers["trunk"]):
            seen = ACTIVATIONS[self.activation](self.layer("trunk", k, seen))
        if self._looking is None:
            return seen, None
        cells = np.maximum(self.layer("cells", 0, self._looking.first(x)), 0)
        cells = self.layer("cells", 1, self._looking.second(cells))
        cells += self.layer("mix", 0, seen)[:, None]
        return seen, np.maximum(cells, 0)

    def _logits(self, seen: Floats, cells: Floats | None) -> Floats:
        logits = self._head("policy", seen)
        if cells is None or self._places is None:
            return logits
        places, n = self._places, len(seen)
        first, second = np.split(self.layer("ends", 0, cells), 2, axis=2)
        first, second = first[:, places.pairs[0]], second[:, places.pairs[1]]
        between = self.layer("between", 0, np.maximum(first + second, 0))
        on_cells = self.layer("at", 0, cells)
        elsewhere = np.zeros((n, 1), np.float32)
        scores = [flat(on_cells), flat(between), elsewhere]
        logits += np.concatenate(scores, axis=1)[:, places.scores]
        return logits

    def _value(self, seen: Floats, cells: Floats | None) -> Floats:
        if cells is not None:
            seen = np.concatenate([seen, cells.mean(axis=1)], axis=1)
        return self._head("value", seen)[:, 0]

    def _head(self, head: str, x: Floats) -> Floats:
        last = self._layers[head] - 1
        for k in range(last):
            x = ACTIVATIONS[self.activation](self.layer(head, k, x))
        return self.layer(head, last, x)


def flat(x: Floats) -> Floats:
    """Flatten all axes except the first, even if the first axis has length 0."""
    return x.reshape(len(x), math.prod(x.shape[1:]))


def layers(tensors: Tensors, part: str) -> int:
    """Return the number of layers of a part."""
    return sum(name.startswith(f"{part}.") and name.endswith(".weight") for name in tensors)


def has_board(tensors: Tensors) -> bool:
    """Return True if the network has parts for a board."""
    return any(layers(tensors, part) for part in BOARD_PARTS)


def widths(tensors: Tensors, parts: Sequence[str] = PARTS) -> dict[str, list[int]]:
    """Return the layer widths of each part, in the form of a saved policy's metadata."""
    parts = [part for part in parts if part in FLAT_PARTS or layers(tensors, part)]
    return {
        part: [len(tensors[f"{part}.{k}.weight"]) for k in range(layers(tensors, part))]
        for part in parts
    }


def check_network(game: Game, tensors: Tensors, activation: Any, advisers: int) -> None:
    """Refuse weights that do not fit each other, the game or the number of advisers.

    Raises:
        NetworkError: the weights do not fit, or the activation is unknown.
    """
    if activation not in list(ACTIVATIONS):
        raise NetworkError(
            f"unknown activation {activation!r}; choose from {', '.join(ACTIVATIONS)}"
        )
    width = check_layers(tensors, "trunk", game.observation.size)
    channels = _check_board(game, tensors, width) if has_board(tensors) else 0
    for head, inputs, outputs in (
        ("policy", width, len(game.actions)),
        ("value", width + channels, 1),
    ):
        reached = check_layers(tensors, head, inputs)
        if layers(tensors, head) == 0 or reached != outputs:
            raise NetworkError(f"the {head} network has {reached} outputs instead of {outputs}")
    trust = check_layers(tensors, "trust", width) if layers(tensors, "trust") else 0
    if trust != advisers or layers(tensors, "trust") > 1:
        raise NetworkError(
            f"the part `trust` must be 1 layer with an output for each of {advisers} advisers, "
            f"not {layers(tensors, 'trust')} layers with {trust} outputs"
        )
    check_tensors(tensors, PARTS)


def check_tensors(tensors: Tensors, parts: Sequence[str]) -> None:
    """Refuse tensors that belong to no part, and numbers that are not finite."""
    if len(tensors) != 2 * sum(layers(tensors, part) for part in parts):
        raise NetworkError(f"some tensors do not belong to any of the parts {', '.join(parts)}")
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise NetworkError("some weights are not finite numbers")


def _check_board(game: Game, tensors: Tensors, width: int) -> int:
    """Refuse board parts that do not fit. Return the number of channels of a cell."""
    try:
        places = places_of(game)
    except ValueError as error:
        raise NetworkError(str(error)) from error
    channels = _check_cells(tensors, places)
    ends = check_layers(tensors, "ends", channels)
    if ends % 2:
        raise NetworkError(f"the part `ends` must have an even number of outputs, not {ends}")
    for part, inputs, outputs in (
        ("mix", width, channels),
        ("at", channels, places.at),
        ("between", ends // 2, places.between),
    ):
        reached = check_layers(tensors, part, inputs)
        depth = layers(tensors, part)
        if depth != 1 or reached != outputs:
            raise NetworkError(
                f"the part `{part}` must be 1 layer with {outputs} outputs, "
                f"not {depth} layers with {reached} outputs"
            )
    if (depth := layers(tensors, "ends")) != 1:
        raise NetworkError(f"the part `ends` must be 1 layer, not {depth} layers")
    return channels


def _check_cells(tensors: Tensors, places: Places) -> int:
    """Refuse a part *cells* that does not fit. Return the number of channels of a cell."""
    if (depth := layers(tensors, "cells")) != 2:
        raise NetworkError(f"the part `cells` must be 2 layers, not {depth}")
    channels = check_layer(tensors, "cells", 0, places.first_inputs)
    return check_layer(tensors, "cells", 1, places.second_inputs(channels))


def check_layers(tensors: Tensors, part: str, width: int) -> int:
    """Refuse layers that do not fit each other. Return the number of outputs of the last layer."""
    number = layers(tensors, part)
    if number > MOST_LAYERS:
        raise NetworkError(
            f"the part `{part}` must have at most {MOST_LAYERS} layers, not {number}"
        )
    for k in range(number):
        width = check_layer(tensors, part, k, width)
    return width


def check_layer(tensors: Tensors, part: str, k: int, width: int) -> int:
    """Refuse a layer that does not take `width` inputs. Return its number of outputs."""
    weight, bias = (tensors.get(f"{part}.{k}.{name}") for name in ("weight", "bias"))
    if weight is None or bias is None:
        raise NetworkError(f"layer {part}.{k} lacks its weight or bias")
    if weight.ndim != 2 or bias.shape != weight.shape[:1]:
        raise NetworkError(
            f"layer {part}.{k} does not fit: its weight must be a matrix, with one bias per row, "
            f"but the shapes are {weight.shape} and {bias.shape}"
        )
    if weight.shape[1] != width:
        raise NetworkError(
            f"layer {part}.{k} does not fit its input: "
            f"it takes {weight.shape[1]:,} inputs instead of {width:,}"
        )
    if weight.dtype != np.float32 or bias.dtype != np.float32:
        found = f"{weight.dtype} and {bias.dtype}"
        raise NetworkError(f"weight and bias of layer {part}.{k} must be float32, not {found}")
    if not 1 <= len(weight) <= MOST_UNITS:
        raise NetworkError(
            f"layer {part}.{k} must have 1 to {MOST_UNITS} outputs, not {len(weight)}"
        )
    return len(weight)
