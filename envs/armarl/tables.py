"""The two tables that every game declares once: its actions and its observation.

Spaces, documentation, notation, decoders and tests are all made from them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ActionFamily:
    """Actions that differ only in their arguments; ids run through the last argument fastest.

    Attributes:
        text: the notation, with one `{}` per argument.
        public: what the other seats learn of it, where that is less: `W? {1}`.
    """

    name: str
    text: str
    arguments: tuple[Sequence[Any], ...]
    meaning: str
    public: str | None = None

    @property
    def size(self) -> int:
        return prod(len(values) for values in self.arguments)

    def texts(self, public: bool = False) -> list[str]:
        """The notation of each action, or what the other seats learn of it."""
        text = self.public if public and self.public else self.text
        return [text.format(*values) for values in product(*self.arguments)]


class ActionTable:
    """All actions of a game: `table.text(id)` and `table.id(text)` are each other's inverse."""

    def __init__(self, families: Sequence[ActionFamily]) -> None:
        self.families = tuple(families)
        self.texts = tuple(text for family in families for text in family.texts())
        self.public_texts = tuple(text for family in families for text in family.texts(public=True))
        self._ids = {text: number for number, text in enumerate(self.texts)}
        starts = np.cumsum([0, *(family.size for family in families)])
        self.first = {
            family.name: int(start) for family, start in zip(families, starts, strict=False)
        }

    def __len__(self) -> int:
        return len(self.texts)

    def text(self, action: int) -> str:
        """Notation of an action id, for example `W3 c4`.

        Raises:
            ValueError: the id is not in [0, len(table)).
        """
        if not 0 <= int(action) < len(self):
            raise ValueError(f"no action {action}: ids run from 0 to {len(self) - 1}")
        return self.texts[int(action)]

    def id(self, text: str) -> int:
        """Action id of a notation, the inverse of `text`.

        Raises:
            ValueError: no action is written so; the message shows how each kind is written.
        """
        action = self._ids.get(text.strip())
        if action is None:
            examples = ", ".join(f"`{family.texts()[0]}`" for family in self.families)
            raise ValueError(f"no action is written {text!r}; actions look like {examples}")
        return action

    def legal_texts(self, mask: NDArray[np.int8]) -> list[str]:
        """The notations of the actions that a mask allows, in the order of their ids."""
        return [self.texts[action] for action in np.flatnonzero(mask)]

    @cached_property
    def hash(self) -> str:
        return _hash(self.texts)

    def markdown(self) -> str:
        """The table as a Markdown page fragment."""
        rows = ["| ids | notation | meaning |", "| --- | --- | --- |"]
        for family in self.families:
            first, texts = self.first[family.name], family.texts()
            ids = f"{first}" if len(texts) == 1 else f"{first}–{first + len(texts) - 1}"
            example = f"`{texts[0]}`" if len(texts) == 1 else f"`{texts[0]}` … `{texts[-1]}`"
            rows.append(f"| {ids} | {example} | {family.meaning} |")
        return "\n".join(rows)


@dataclass(frozen=True)
class Block:
    """A named part of the flat observation, holding `quantity / scale` as float32.

    Attributes:
        shape: the block's shape; the first axis of a per-seat block is the seat, oneself first,
            then the others in play order.
        maximum: the largest quantity (the smallest is 0).
        scale: what the quantity is divided by, a number or one per entry of the last axis.
        known: who may see it: "public", or "own" for what depends on this seat's knowledge.
    """

    name: str
    shape: tuple[int, ...]
    maximum: float
    scale: float | tuple[float, ...]
    known: str
    meaning: str

    @property
    def size(self) -> int:
        return prod(self.shape)


class ObservationTable:
    """The blocks of a game's flat observation, in order."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = tuple(blocks)
        ends = np.cumsum([block.size for block in blocks])
        self.slices = {
            block.name: slice(int(end) - block.size, int(end))
            for block, end in zip(blocks, ends, strict=True)
        }
        self.size = int(ends[-1])

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Lowest and highest observation, two float32 arrays of shape (size,)."""
        high = np.empty(self.size, np.float32)
        for block in self.blocks:
            limit = np.broadcast_to(block.maximum / np.asarray(block.scale), block.shape)
            high[self.slices[block.name]] = limit.reshape(-1)
        return np.zeros(self.size, np.float32), high

    def views(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """The named blocks as reshaped views of `observation` (..., size), scaled as they are."""
        batch = observation.shape[:-1]
        return {
            block.name: observation[..., self.slices[block.name]].reshape(*batch, *block.shape)
            for block in self.blocks
        }

    def decode(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.int64]]:
        """The named blocks in real units: Warriors, points, gold."""
        return {
            name: np.rint(view * np.asarray(block.scale)).astype(np.int64)
            for block, (name, view) in zip(
                self.blocks, self.views(observation).items(), strict=True
            )
        }

    @cached_property
    def hash(self) -> str:
        return _hash([[b.name, b.shape, b.maximum, b.scale, b.known] for b in self.blocks])

    def markdown(self) -> str:
        """The table as a Markdown page fragment."""
        rows = [
            "| from | block | shape | quantity | divided by | known | meaning |",
            "| --- " * 7 + "|",
        ]
        for block in self.blocks:
            start = self.slices[block.name].start
            shape = "×".join(map(str, block.shape))
            scale = block.scale if isinstance(block.scale, tuple) else (block.scale,)
            divided = ", ".join(f"{number:g}" for number in scale)
            rows.append(
                f"| {start} | `{block.name}` | {shape} | 0–{block.maximum:g} | {divided} "
                f"| {block.known} | {block.meaning} |"
            )
        return "\n".join(rows)


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
