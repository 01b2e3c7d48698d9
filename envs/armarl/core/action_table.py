"""The table of a game's actions: ids, notation, and where they act on the board."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.common.numbers import action_number
from armarl.core.observation_table import _hash

_VALUE = r"(\S.*?)"  # in the place of {} in a notation


_NEAR = 0.92  # how much of a notation must be right for the rest to be a slip of the hand


@dataclass(frozen=True)
class ActionFamily:
    """Actions that differ only in their arguments; ids run through the last argument fastest.

    Attributes:
        text: the notation, with one `{}` per argument.
        public: what the other seats learn of it, where that is less: `W? {1}`.
        at: for each value of the last argument where it acts on the board: the cell it goes from
            and the cell it goes to, -1 where there is none. Empty: it acts on no cell.
    """

    name: str
    text: str
    arguments: tuple[Sequence[Any], ...]
    meaning: str
    public: str | None = None
    at: Sequence[tuple[int, int]] = ()

    def __post_init__(self) -> None:
        if self.text.count("{}") != len(self.arguments):
            raise ValueError(f"{self.text!r} must have a {{}} for each of the arguments, in order")

    @property
    def size(self) -> int:
        return prod(len(values) for values in self.arguments)

    def wrong_value(self, text: str) -> str | None:
        """What in a text that looks like one of these is none of their values; else None."""
        pattern = re.escape(self.text).replace(r"\{\}", _VALUE)
        found = re.fullmatch(pattern, text, re.IGNORECASE)
        if found is None or pattern == _VALUE:
            return None
        for value, values in zip(found.groups(), self.arguments, strict=True):
            known = [str(one) for one in values]
            if value.lower() not in [one.lower() for one in known]:
                shown = known if len(known) <= 6 else [*known[:4], f"… {known[-1]}"]
                return f"{brief(repr(value), 40)} is none of {', '.join(shown)}"
        return None

    def texts(self, public: bool = False) -> list[str]:
        """The notation of each action, or what the other seats learn of it."""
        text = self.public if public and self.public else self.text
        return [text.format(*values) for values in product(*self.arguments)]


class ActionPlaces(NamedTuple):
    """Where on the board actions act, so that a network can score them by its cells' embeddings.

    Attributes:
        origin: int64 (actions,), the cell that an action goes from, or -1.
        target: int64 (actions,), the cell that it goes to or acts on, or -1.
        edge: int64 (actions,), the number of the edge from one to the other, or -1. For a wall
            between two squares these are its two sides, and the edge is the line.
    """

    origin: NDArray[np.int64]
    target: NDArray[np.int64]
    edge: NDArray[np.int64]


class ActionTable:
    """All actions of a game: `table.text(id)` and `table.id(text)` are each other's inverse.

    Attributes:
        first: the first id of each family, by its name.
    """

    def __init__(
        self, families: Sequence[ActionFamily], edges: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.families = tuple(families)
        self._places = _places(self.families, edges)
        self.texts = tuple(text for family in families for text in family.texts())
        self.public_texts = tuple(text for family in families for text in family.texts(public=True))
        self._ids = {text: number for number, text in enumerate(self.texts)}
        starts = np.cumsum([0, *(family.size for family in families)])
        self.first: Mapping[str, int] = MappingProxyType(
            {family.name: int(start) for family, start in zip(families, starts, strict=False)}
        )

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def places(self) -> ActionPlaces:
        """Where each action acts, in the cells of the observation's board: the squares of
        `ObservationTable.grid`, row by row, or the places of `ObservationTable.graph`. A copy.
        """
        return ActionPlaces(*(ends.copy() for ends in self._places))

    def text(self, action: int) -> str:
        """Notation of an action id, for example `W3 c4`.

        Raises:
            TypeError: it is no integer.
            ValueError: the id is not in [0, len(table)).
        """
        number = action_number(action)
        if not 0 <= number < len(self):
            raise ValueError(f"no action {number}: ids run from 0 to {len(self) - 1}")
        return self.texts[number]

    def id(self, text: str) -> int:
        """Action id of a notation, the inverse of `text`.

        Raises:
            TypeError: it is no text.
            ValueError: no action is written so; the message says what is wrong in what looks like
                an action, else how each kind is written.
        """
        if not isinstance(text, str):
            raise TypeError(f"a notation is text, not {brief(repr(text), 60)}")
        action = self._ids.get(text.strip())
        if action is None:
            raise ValueError(f"no action is written {brief(repr(text), 60)}; {self._nearest(text)}")
        return action

    def _nearest(self, text: str) -> str:
        """What is right instead of a notation that there is not."""
        text = " ".join(text.split())
        written, known = text.lower(), {action.lower(): action for action in self.texts}
        if same := known.get(written):
            return f"did you mean `{same}`?"
        if whole := next((one for one in known if one.startswith(f"{written} ")), None):
            return f"it is not whole: as in `{known[whole]}`"
        if near := difflib.get_close_matches(written[:100], known, 1, _NEAR):
            return f"did you mean `{known[near[0]]}`?"
        for family in self.families:
            if wrong := family.wrong_value(text):
                return f"{wrong}: {family.meaning}, such as `{family.texts()[0]}`"
        examples = ", ".join(f"`{family.texts()[0]}`" for family in self.families)
        return f"actions look like {examples}"

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


def _places(families: Sequence[ActionFamily], edges: Sequence[tuple[int, int]]) -> ActionPlaces:
    """Where the actions of some families act; `edges` as (from, to), in their order."""
    ends: list[tuple[int, int]] = []
    for family in families:
        at = family.at or [(-1, -1)] * (len(family.arguments[-1]) if family.arguments else 1)
        ends += [*at] * (family.size // len(at) if at else 0)
    number = {edge: i for i, edge in enumerate(edges)}
    origin, target = np.array(ends, np.int64).reshape(-1, 2).T
    return ActionPlaces(origin, target, np.array([number.get(pair, -1) for pair in ends], np.int64))
