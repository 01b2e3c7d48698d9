"""`Variant`: the plain description of one variant of one game.

It says what a game is, not how it is played: names, options, sizes, tables, and the blank record.
Checks and files need no more than this. `Game` extends it with the compiled verbs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import State
from armarl.core.action_table import ActionTable
from armarl.core.observation_table import ObservationTable


@dataclass(frozen=True, eq=False, kw_only=True)
class Variant:
    """One variant of a game: its options, sizes and tables. Immutable.

    Attributes:
        name: the game's name in the catalogue.
        version: raised whenever the rules, the actions or the observation change.
        players: number of seats, 2 to 4.
        options: the variant's other options.
        sides: the side that each seat plays for; partners share one.
        actions: the action table: ids and notation.
        observation: the named blocks of the flat observation.
        rewards: names of the ways to reward a finished game.
        max_actions: no game takes more actions than this.
        blank: a record of the state's type that holds the options and nothing else; read-only.
        attributes: what its environments offer besides, by name: a `chart`, for instance.
        option_fields: fields of `blank` that differ between variants.
        survey: the named blocks that a judge of positions reads, or None; see the verb `survey`.
        faults: an error text for each number that the verb `valid` returns; the first is for
            lawful states.
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
    option_fields: tuple[str, ...] = ("players",)
    survey: ObservationTable | None = None
    faults: tuple[str, ...] = field(default=("it is lawful",), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "blank", _unwritable(self.blank))
        for name in ("options", "attributes"):  # every user of this variant shares these
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def variant(self) -> dict[str, Any]:
        """What a saved policy or record must agree on, as plain JSON types."""
        return {
            "game": self.name,
            "version": self.version,
            "players": self.players,
            "options": dict(self.options),
            "actions": self.actions.hash,
            "observation": self.observation.hash,
        }

    def reward_kind(self, name: str) -> int:
        """Number of a reward's name.

        Raises:
            ValueError: this game has no reward of that name.
        """
        if name not in self.rewards:
            known = " or ".join(map(repr, self.rewards))
            raise ValueError(f"reward must be {known}, not {name!r}")
        return self.rewards.index(name)

    @cached_property
    def option_bytes(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Where in a record the bytes of `option_fields` are, and those of this variant."""
        fields: Any = self.blank.dtype.fields
        places = [
            np.arange(fields[name][1], fields[name][1] + fields[name][0].itemsize)
            for name in self.option_fields
        ]
        where = np.concatenate(places)
        return where, np.frombuffer(self.blank.tobytes(), np.uint8)[where].copy()


def _unwritable(record: State) -> State:
    """A record that nobody can write into, nor make writable again: its memory is bytes."""
    record = np.asarray(record)
    return np.frombuffer(record.tobytes(), record.dtype)[0]
