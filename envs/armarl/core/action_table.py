"""The table of a game's actions: ids, notation, and positions on the board."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.common.numbers import action_number
from armarl.common.read_only import ReadOnly
from armarl.core.observation_table import _hash

_VALUE = r"(\S.*?)"  # matches the value that replaces {} in a notation


_NEAR = 0.92  # minimum difflib similarity of an unknown notation that counts as a typing error


@dataclass(frozen=True)
class ActionFamily:
    """Actions that differ only in their arguments.

    Their ids are consecutive. From one id to the next, the last argument varies fastest.

    Attributes:
        name: the key of the family in `ActionTable.first`.
        text: the notation, with one `{}` per argument.
        arguments: the values of each argument.
        meaning: the explanation for documentation and error messages.
        public: the notation that the other seats see, such as `W? {1}`. None if they see `text`.
        at: for each value of the last argument, the origin cell and the target cell on the board,
            -1 where there is none. Empty if the actions touch no cell.

    Raises:
        ValueError: `text` does not have one `{}` for each argument.

    Example:
        >>> from armarl.games.authoring import ActionFamily
        >>> family = ActionFamily("move", "{}-{}", (("a1", "b1"), ("c1", "d1")), "move a piece")
        >>> family.size, family.texts()
        (4, ['a1-c1', 'a1-d1', 'b1-c1', 'b1-d1'])
    """

    name: str
    text: str
    arguments: tuple[Sequence[Any], ...]
    meaning: str
    public: str | None = None
    at: Sequence[tuple[int, int]] = ()

    def __post_init__(self) -> None:
        if self.text.count("{}") != len(self.arguments):
            raise ValueError(
                f"{self.text!r} must have {len(self.arguments)} {{}}, one for each argument"
            )

    @property
    def size(self) -> int:
        """The number of actions."""
        return prod(len(values) for values in self.arguments)

    def wrong_value(self, text: str) -> str | None:
        """Return the error text for a wrong argument value in `text`.

        The result is None if `text` does not have the form of this family, or if each value is
        known.
        """
        pattern = re.escape(self.text).replace(r"\{\}", _VALUE)
        found = re.fullmatch(pattern, text, re.IGNORECASE)
        if found is None or pattern == _VALUE:
            return None
        for value, values in zip(found.groups(), self.arguments, strict=True):
            known = [str(one) for one in values]
            if value.lower() not in [one.lower() for one in known]:
                shown = known if len(known) <= 6 else [*known[:4], f"… {known[-1]}"]
                return f"{brief(repr(value), 40)} is not one of {', '.join(shown)}"
        return None

    def texts(self, public: bool = False) -> list[str]:
        """Return the notation of each action, or with `public` the notation for other seats."""
        text = self.public if public and self.public else self.text
        return [text.format(*values) for values in product(*self.arguments)]


class ActionPlaces(NamedTuple):
    """The board cells and the edge of each action, from which networks can score actions.

    Attributes:
        origin: int64 (actions,), the cell from which an action starts, or -1.
        target: int64 (actions,), the cell to which it goes or on which it acts, or -1.
        edge: int64 (actions,), the index of the edge from origin to target, or -1. For a wall
            between two squares, origin and target are the two squares, and the edge is the line
            between them.
    """

    origin: NDArray[np.int64]
    target: NDArray[np.int64]
    edge: NDArray[np.int64]


class ActionTable:
    """All actions of a game, with an id and a notation for each.

    `table.text(id)` and `table.id(text)` are inverse to each other. `len(table)` is the number of
    actions.

    Attributes:
        families: the families of actions, in the order of their ids.
        texts: the notation of each action, by id.
        public_texts: the notation that the other seats see, by id.
        first: the first id of each family, by its name.

    Example:
        >>> import armarl
        >>> actions = armarl.make_game("armadora").actions
        >>> len(actions), actions.text(0), actions.id("pass")
        (229, 'W1 a1', 228)
        >>> actions.public_texts[0]  # the value of a face-down Warrior is hidden
        'W? a1'
    """

    def __init__(
        self, families: Sequence[ActionFamily], edges: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Create a table.

        Args:
            families: the families of actions, in the order of their ids.
            edges: the origin cell and the target cell of each edge of the board, in the order of
                the edges' indices.
        """
        self.families = tuple(families)
        self._places = _places(self.families, edges)
        self.texts = tuple(text for family in families for text in family.texts())
        self.public_texts = tuple(text for family in families for text in family.texts(public=True))
        self._ids = {text: number for number, text in enumerate(self.texts)}
        starts = np.cumsum([0, *(family.size for family in families)])
        self.first: Mapping[str, int] = ReadOnly(
            {family.name: int(start) for family, start in zip(families, starts, strict=False)}
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> ActionTable:
        return self  # a table never changes

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def places(self) -> ActionPlaces:
        """The board cells and edges of each action, as a copy.

        Cells are numbered as on the observation's board: the squares of `ObservationTable.grid`,
        row by row, or the places of `ObservationTable.graph`.
        """
        return ActionPlaces(*(ends.copy() for ends in self._places))

    def text(self, action: int) -> str:
        """Return the notation of an action id, for example `W3 c4`.

        Raises:
            TypeError: `action` is not an integer.
            ValueError: the id is not in [0, len(table)).
        """
        number = action_number(action)
        if not 0 <= number < len(self):
            raise ValueError(f"there is no action {number}: ids run from 0 to {len(self) - 1}")
        return self.texts[number]

    def id(self, text: str) -> int:
        """Return the action id of a notation, the inverse of `text`.

        Raises:
            TypeError: `text` is not a string.
            ValueError: no action has this notation. The message names the mistake if `text`
                resembles an action; otherwise it gives an example of each family.
        """
        if not isinstance(text, str):
            raise TypeError(f"an action's notation must be a string, not {brief(repr(text), 60)}")
        action = self._ids.get(text.strip())
        if action is None:
            raise ValueError(f"unknown action {brief(repr(text), 60)}; {self._nearest(text)}")
        return action

    def _nearest(self, text: str) -> str:
        """Return the hint in the error text for an unknown notation."""
        text = " ".join(text.split())
        written, known = text.lower(), {action.lower(): action for action in self.texts}
        if same := known.get(written):
            return f"did you mean `{same}`?"
        if whole := next((one for one in known if one.startswith(f"{written} ")), None):
            return f"it is incomplete; a complete action is `{known[whole]}`"
        if near := difflib.get_close_matches(written[:100], known, 1, _NEAR):
            return f"did you mean `{known[near[0]]}`?"
        for family in self.families:
            if wrong := family.wrong_value(text):
                return f"{wrong}: {family.meaning}, such as `{family.texts()[0]}`"
        examples = ", ".join(f"`{family.texts()[0]}`" for family in self.families)
        return f"actions look like {examples}"

    def legal_texts(self, mask: NDArray[np.int8]) -> list[str]:
        """Return the notations of the actions that a mask allows, in the order of their ids.

        Args:
            mask: one action mask, int8, shape (actions,).
        """
        return [self.texts[action] for action in np.flatnonzero(mask)]

    @cached_property
    def hash(self) -> str:
        """A hash of all notations, 16 hexadecimal digits. Saved policies and records contain it.

        A policy or record can be used only with a table that has the same hash.
        """
        return _hash(self.texts)

    def markdown(self) -> str:
        """Return the table in Markdown."""
        rows = ["| ids | notation | meaning |", "| --- | --- | --- |"]
        for family in self.families:
            first, texts = self.first[family.name], family.texts()
            ids = f"{first}" if len(texts) == 1 else f"{first}–{first + len(texts) - 1}"
            example = f"`{texts[0]}`" if len(texts) == 1 else f"`{texts[0]}` … `{texts[-1]}`"
            rows.append(f"| {ids} | {example} | {family.meaning} |")
        return "\n".join(rows)


def _places(families: Sequence[ActionFamily], edges: Sequence[tuple[int, int]]) -> ActionPlaces:
    """Return the cells and the edge of each action. `edges[i]` is the pair (from, to) of edge i."""
    ends: list[tuple[int, int]] = []
    for family in families:
        at = family.at or [(-1, -1)] * (len(family.arguments[-1]) if family.arguments else 1)
        ends += [*at] * (family.size // len(at) if at else 0)
    number = {edge: i for i, edge in enumerate(edges)}
    origin, target = np.array(ends, np.int64).reshape(-1, 2).T
    return ActionPlaces(origin, target, np.array([number.get(pair, -1) for pair in ends], np.int64))
