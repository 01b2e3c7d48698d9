"""Make a state from its description, the inverse of `describe`.

A game tries values for everything that a description leaves open. The result is the first state
that is valid and matches the description.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armarl.common.json_text import check_bounds, same_json
from armarl.common.messages import brief
from armarl.common.numbers import is_whole
from armarl.compiler.types import State

if TYPE_CHECKING:
    from armarl.core.game import Game


class Description:
    """A description of a state, or a dictionary inside it, with its place for error messages."""

    def __init__(self, value: Any, place: str = "") -> None:
        """Store the dictionary `value`, which is at `place` in the description.

        Raises:
            ValueError: `value` is not a dictionary.
        """
        self.place = place
        if not isinstance(value, Mapping):
            raise ValueError(
                f"{place or 'a description'} must be a dictionary, not {_shown(value)}"
            )
        self._value = value

    def __contains__(self, key: str) -> bool:
        return self._value.get(key) is not None

    def _at(self, key: str) -> str:
        return f"{self.place}[{key!r}]" if self.place else f"{key!r}"

    def number(self, key: str, default: int, low: int = 0, high: int = 100) -> int:
        """Return the whole number under a key, or the default if the key is missing.

        Raises:
            ValueError: the value is not a whole number from `low` to `high`.
        """
        found = self._value.get(key, default)
        if not is_whole(found) or not low <= found <= high:
            raise ValueError(
                f"{self._at(key)} must be a whole number from {low} to {high}, not {_shown(found)}"
            )
        return int(found)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return the bool under a key, or the default if the key is missing.

        Raises:
            ValueError: the value is not a bool.
        """
        found = self._value.get(key, default)
        if not isinstance(found, bool):
            raise ValueError(f"{self._at(key)} must be true or false, not {_shown(found)}")
        return found

    def word(self, key: str, known: Sequence[str], default: str | None = None) -> str | None:
        """Return the word under a key, or the default if the key is missing or its value is None.

        Raises:
            ValueError: the value is not one of the known words.
        """
        found = self._value.get(key)
        return default if found is None else _known(self._at(key), found, known)

    def words(self, key: str, known: Sequence[str]) -> list[str]:
        """Return the list of words under a key, empty if the key is missing or its value is None.

        Raises:
            ValueError: the value is not a list of known words.
        """
        return [_known(self._at(key), word, known) for word in self.sequence(key)]

    def sequence(self, key: str) -> list[Any]:
        """Return the list under a key, empty if the key is missing or its value is None.

        Raises:
            ValueError: the value is not a list.
        """
        found = self._value.get(key)
        if found is None:
            return []
        if not isinstance(found, list):
            raise ValueError(f"{self._at(key)} must be a list, not {_shown(found)}")
        return found

    def each(self, key: str, size: int) -> list[Any] | None:
        """Return the list under a key, or None if the key is missing or its value is None.

        Raises:
            ValueError: the value is not a list of `size` entries, one per player.
        """
        if key not in self:
            return None
        found = self.sequence(key)
        if len(found) != size:
            raise ValueError(
                f"{self._at(key)} must have {size} entries, one for each player, not {len(found)}"
            )
        return found

    def part(self, key: str) -> Description:
        """Return the dictionary under a key, empty if the key is missing or its value is None."""
        found = self._value.get(key)
        return Description({} if found is None else found, self._at(key))

    def named(self, key: str, known: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Yield the names and values in the dictionary under a key.

        Raises:
            ValueError: a name is not one of the known names.
        """
        for name, value in self.part(key)._value.items():
            yield _known(f"a name in {self._at(key)}", name, known), value


def _known(place: str, word: Any, known: Sequence[str]) -> str:
    if not isinstance(word, str) or word not in known:
        shown = ", ".join([*known[:8], *(["…"] if len(known) > 8 else [])])
        raise ValueError(f"{place} must be one of {shown}, not {_shown(word)}")
    return word


def _shown(value: Any) -> str:
    return brief(repr(value), 60)


def state_from(game: Game, description: Mapping[str, Any], seed: int) -> State:
    """Return the state that matches a description; see `Game.state_from`."""
    if game._states_from is None:
        raise ValueError(
            f"{game.name} cannot make states from descriptions: its `make` must pass "
            "`_states_from` to `Game`"
        )
    view = _plain(description)
    base = game.new_states(seed)[0]
    _refuse_foreign(game.describe(base), view)
    _refuse_hidden(view)
    wrong = ""
    for state in game._states_from(game, Description(view), base):
        states = np.full(1, state)
        try:
            game.check_states(states)
        except ValueError as error:
            wrong = wrong or str(error).replace(
                f"states[0] is not a valid state of {game.name}", "the position breaks a rule"
            )
            continue
        if (different := _difference(view, game.describe(states[0]))) is None:
            return states[0]
        wrong = different
    raise ValueError(
        wrong or "the description does not say which decision is next; give all keys of `describe`"
    )


def _plain(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a description in JSON types."""
    if not isinstance(description, Mapping):
        raise TypeError(f"a description must be a dictionary, not {_shown(description)}")
    try:
        view: dict[str, Any] = json.loads(json.dumps(dict(description)))
        check_bounds(view)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a description must contain only JSON types: {brief(error)}") from None
    return view


def _refuse_foreign(known: dict[str, Any], view: dict[str, Any]) -> None:
    """Refuse a description of another variant, and unknown keys."""
    for key in ("game", "version", "players", "options"):
        if key in view and not same_json(view[key], known[key]):
            raise ValueError(
                f"the description has {key} {_shown(view[key])}, "
                f"but this game has {_shown(known[key])}"
            )
    for key in view:
        if key not in known:
            raise ValueError(
                f"a description of {known['game']} has no key {_shown(key)}; its keys are "
                f"{', '.join(known)}"
            )


def _refuse_hidden(view: dict[str, Any]) -> None:
    """Refuse the view of one seat, because it lacks hidden information that a state contains."""
    hands = view.get("hands")
    if isinstance(hands, list) and None in hands:
        raise ValueError(
            "this is the view of one seat, in which other hands are hidden: describe the whole "
            "state, or leave 'hands' out"
        )


def _difference(wanted: Any, found: Any, place: str = "") -> str | None:
    """Return a message about the first difference between two descriptions, or None.

    Keys that are missing in `wanted` are not compared. The order of words in a list is not compared
    either. Where the order of words has a meaning, the game itself checks it.
    """
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            where = f"{place}[{key!r}]" if place else f"{key!r}"
            if key not in found:
                return f"{where} is not a key of the description of this position"
            if (different := _difference(value, found[key], where)) is not None:
                return different
        return None
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        if all(isinstance(word, str) for word in [*wanted, *found]):
            wanted, found = sorted(wanted), sorted(found)
        pairs = enumerate(zip(wanted, found, strict=True))
        parts = (_difference(*pair, f"{place}[{k}]") for k, pair in pairs)
        return next((part for part in parts if part is not None), None)
    if same_json(wanted, found):
        return None
    return f"{place} would be {_shown(found)} in this position, not {_shown(wanted)}"
