"""`Variant`: the plain description of one variant of one game.

It contains names, options, sizes, tables and the blank record, but no rules. Code that checks
arguments or reads files needs nothing else. `Game` adds the compiled verbs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.read_only import ReadOnly
from armarl.compiler.types import State
from armarl.core.action_table import ActionTable
from armarl.core.observation_table import ObservationTable


@dataclass(frozen=True, eq=False, kw_only=True)
class Variant:
    """An immutable description of one variant of a game: its options, sizes and tables.

    Attributes:
        name: the game's name in the catalogue.
        version: a number that is raised whenever the rules, the actions or the observation change.
        players: number of seats, 2 to 4 in the games of this package.
        options: the variant's other options.
        sides: the number of the side of each seat. Partners have the same side.
        actions: the action table: ids and notation.
        observation: the named blocks of the flat observation.
        rewards: the names of the reward functions for a finished game.
        max_actions: the maximum number of actions in one game.
        blank: a record of the state's dtype that contains only the options; read-only.
        fixed: a record of the data that all games of the variant share, for the verbs; read-only.
            None if the states contain all data.
        scratch: the dtype of the record that the verb `greedy` overwrites. None means the dtype of
            states.
        attributes: additional attributes of the game's environments, by name, such as `chart`.
        option_fields: the fields of `blank` that differ between variants.
        survey: the named blocks that a judge reads, or None if the game has none. A judge is a
            value network; the verb `survey` writes its input.
        faults: a text for each number that the verb `valid` returns. The first text is for valid
            states. Each other text says what is wrong.
        earlier: earlier versions with other rules but the same action ids and the same entries of
            the observation. A policy of an earlier version is loaded with a warning.
    """

    name: str
    version: int
    players: int
    options: Mapping[str, Any]
    sides: tuple[int, ...]
    actions: ActionTable
    observation: ObservationTable
    rewards: tuple[str, ...]
    max_actions: int
    blank: State = field(repr=False)
    attributes: Mapping[str, Any] = field(default_factory=dict, repr=False)
    fixed: State = field(default=None, repr=False)
    scratch: np.dtype[Any] = field(default=None, repr=False)  # type: ignore[arg-type]
    option_fields: tuple[str, ...] = ("players",)
    survey: ObservationTable | None = None
    faults: tuple[str, ...] = field(default=("it is valid",), repr=False)
    earlier: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "blank", _unwritable(self.blank))
        if self.fixed is not None:
            object.__setattr__(self, "fixed", _unwritable(self.fixed))
        object.__setattr__(self, "scratch", self.scratch or self.blank.dtype)
        for name in ("options", "attributes"):  # shared by all users of this variant
            object.__setattr__(self, name, ReadOnly(getattr(self, name)))

    @property
    def variant(self) -> dict[str, Any]:
        """The identity of the variant, as plain JSON types. Saved policies and records contain it.

        A policy or record can be used only with a game of the same identity.
        """
        return {
            "game": self.name,
            "version": self.version,
            "players": self.players,
            "options": dict(self.options),
            "actions": self.actions.hash,
            "observation": self.observation.hash,
        }

    def reward_kind(self, name: str) -> int:
        """Return the index of a reward in `rewards`.

        Raises:
            ValueError: this game has no reward of that name.
        """
        if name not in self.rewards:
            known = " or ".join(map(repr, self.rewards))
            raise ValueError(f"reward must be {known}, not {name!r}")
        return self.rewards.index(name)

    @cached_property
    def option_bytes(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """The positions of the bytes of `option_fields` in a record, and this variant's bytes."""
        fields: Any = self.blank.dtype.fields
        places = [
            np.arange(fields[name][1], fields[name][1] + fields[name][0].itemsize)
            for name in self.option_fields
        ]
        where = np.concatenate(places)
        return where, np.frombuffer(self.blank.tobytes(), np.uint8)[where].copy()


def _unwritable(record: State) -> State:
    """Return a copy of a record that cannot be made writeable, because its memory is `bytes`."""
    record = np.asarray(record)
    return np.frombuffer(record.tobytes(), record.dtype)[0]
