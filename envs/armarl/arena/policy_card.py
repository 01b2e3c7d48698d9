"""Cards of saved policies: their checked metadata. `policy_card_text` formats cards as text.

A policy's file may come from a stranger, and most of its metadata is checked only here. `read_card`
refuses entries of the wrong type. Most entries may be missing.

A training curve has one row per evaluation during training. The opponents in these evaluations are
called anchors.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from armarl.common.files import BEST_FILE, CONFIG_FILE, POLICY_FILE
from armarl.common.messages import brief
from armarl.matches.standings import Standing
from armarl.players.player_specs import as_spec
from armarl.players.registry import shipped_policies
from armarl.policies.paths import label
from armarl.policies.safetensors_file import PolicyError
from armarl.policies.saved_policy import policy_file, read_policy
from armarl.policies.weight_kinds import weight_kind

WINS = "wins/"  # a curve's row has the win rate against an anchor under the key "wins/ANCHOR"
_LARGEST = 1e15  # all numbers in metadata must have a smaller absolute value
_KINDS: Mapping[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a JSON object",
}

T = TypeVar("T")
Row = Mapping[str, float]  # one row of a training curve: decisions, minutes, rating, wins/ANCHOR


class Training(NamedTuple):
    """The training of a policy. Entries that are missing in the policy's file are None or empty.

    Attributes:
        learner: the learner's name in configurations.
        seed: seed of the run.
        decisions: number of decisions.
        minutes: total training time in minutes.
        threads: number of threads.
        share: fraction of the training games that had opponents, 0 to 1.
        opponents: for each opponent, its fraction of the training games that had opponents.
        head_start: the policy from which training started, or the number of games of a teacher
            that it imitated first, or both, as text.
        curve: results against the anchors during training.
        hardware: the hardware of the run.
    """

    learner: str | None
    seed: int | None
    decisions: int | None
    minutes: float | None
    threads: int | None
    share: float | None
    opponents: dict[str, float]
    head_start: str | None
    curve: Sequence[Row]
    hardware: dict[str, str]


class Measured(NamedTuple):
    """A match that measured a policy.

    Attributes:
        opponent: the opponent's specification.
        held_out: True if training did not use a player with this specification as an opponent, a
            teacher or an adviser (a player whose choices are an input of the policy).
        seed: seed of the match.
        standing: the policy's result (not the opponent's).
        version: the version of the game in this match.
    """

    opponent: str
    held_out: bool
    seed: int
    standing: Standing
    version: int | None


@dataclass(frozen=True)
class Card:
    """The description of a saved policy.

    Attributes:
        name: the name or path that was given to `read_card`.
        game: name of the game that the policy plays.
        players: the number of players.
        options: the game's options.
        learnt_version: the version of the game under which the policy was trained.
        plays: a description of how the policy chooses actions.
        network: the widths of the layers of each part of the network. Empty for files of the first
            format.
        parameters: number of weights.
        training: the policy's training.
        strength: the matches that measured the policy.
        again: a command that trains a similar policy, or None.

    Example:
        >>> from armarl import read_card
        >>> card = read_card("armadora-2p")
        >>> card.training.learner, card.again
        ('td', 'armarl train armadora-2p')
    """

    name: str
    game: str
    players: int
    options: dict[str, Any]
    learnt_version: int
    plays: str
    network: dict[str, list[int]]
    parameters: int
    training: Training
    strength: list[Measured]
    again: str | None


def read_card(name: str | Path) -> Card:
    """Read the card of a saved policy.

    Args:
        name: a policy file, a run's folder, or the name of a shipped policy.

    Raises:
        FileNotFoundError: there is no such policy.
        PolicyError: the file is damaged, or its metadata is invalid.
        TypeError: `name` is neither a string nor a path.
        ValueError: `name` is a player specification with arguments.
        ImportError: the package `safetensors` (extra `play`) is not installed.

    Example:
        >>> from armarl import read_card
        >>> card = read_card("armadora-2p")
        >>> card.game, card.players
        ('armadora', 2)
    """
    path = policy_file(name)
    tensors, metadata = read_policy(path)
    try:
        return Card(
            name=str(name),
            game=_needed(metadata, "variant.game", str),
            players=_needed(metadata, "variant.players", int),
            options=_found(metadata, "variant.options", dict) or {},
            learnt_version=_learnt_version(metadata),
            plays=weight_kind(tensors).describe(_texts(metadata, "advisers")),
            network=_widths(metadata),
            parameters=sum(tensor.size for tensor in tensors.values()),
            training=_training(metadata),
            strength=_strength(metadata),
            again=_again(path),
        )
    except ValueError as error:
        raise PolicyError(f"{path} has invalid metadata: {error}") from error


def _learnt_version(metadata: dict[str, Any]) -> int:
    version = _needed(metadata, "variant.version", int)
    learnt = _found(metadata, "learnt_version", int)
    if learnt is None:
        return version
    if not 0 <= learnt <= version:
        raise ValueError(f"learnt_version must be 0 to {version}, not {learnt}")
    return learnt


def _found(said: Any, place: str, kind: type[T]) -> T | None:
    """Return the entry at a place such as `training.minutes`, or None if it is missing.

    Raises:
        ValueError: the entry is of another type.
    """
    for key in place.split("."):
        if said is None:
            return None
        if not isinstance(said, dict):
            raise ValueError(
                f"{brief(place)} is missing: {brief(repr(said))} is not {_KINDS[dict]}"
            )
        said = said.get(key)
    return None if said is None else _checked(said, place, kind)


def _checked(value: Any, place: str, kind: type[T]) -> T:
    """Return a value if it has the right type. An int is valid where a float is needed.

    Raises:
        ValueError: the value is of another type, NaN, or too large.
    """
    right = isinstance(value, (int, float) if kind is float else kind)
    if kind in (int, float) and right:
        right = not isinstance(value, bool) and abs(value) < _LARGEST  # False for NaN
    if not right:
        raise ValueError(f"{brief(place)} must be {_KINDS[kind]}, not {brief(repr(value))}")
    found: T = value
    return found


def _needed(said: Any, place: str, kind: type[T]) -> T:
    value = _found(said, place, kind)
    if value is None:
        raise ValueError(f"{place} is missing; it must be {_KINDS[kind]}")
    return value


def _texts(said: Any, place: str) -> list[str]:
    return [_checked(text, place, str) for text in _found(said, place, list) or []]


def _numbers(said: Any, place: str) -> dict[str, float]:
    """Return the numbers of a JSON object by name, or {} if the object is missing."""
    return {
        name: _checked(number, f"{place}.{name}", float)
        for name, number in (_found(said, place, dict) or {}).items()
    }


def _widths(metadata: Any) -> dict[str, list[int]]:
    """Return the widths of the network's layers by part, or {} for files of the first format."""
    parts: dict[str, Any] = _found(metadata, "network", dict) or {}
    return {
        part: [_checked(width, "network", int) for width in _checked(found, "network", list)]
        for part, found in parts.items()
    }


def _training(metadata: Any) -> Training:
    config = "training.config"
    weights = _numbers(metadata, f"{config}.opponents.players")
    weights["earlier versions"] = _found(metadata, f"{config}.opponents.earlier", float) or 0.0
    weights = {name: weight for name, weight in weights.items() if weight > 0}
    every = sum(weights.values())
    return Training(
        learner=_found(metadata, f"{config}.learner", str),
        seed=_found(metadata, f"{config}.seed", int),
        decisions=_found(metadata, "training.decisions", int),
        minutes=_found(metadata, "training.minutes", float),
        threads=_found(metadata, f"{config}.threads", int),
        share=_found(metadata, f"{config}.opponents.share", float),
        opponents={name: weight / every for name, weight in weights.items()},
        head_start=_head_start(metadata),
        curve=_curve(metadata),
        hardware=_hardware(metadata),
    )


def _head_start(metadata: Any) -> str | None:
    policy = _found(metadata, "training.config.start_from", str)
    games = _found(metadata, "training.config.imitation.games", int)
    teacher = _found(metadata, "training.config.imitation.teacher", str)
    lessons = f"{games:,} games of {teacher}" if games else None
    return " and ".join(part for part in (policy, lessons) if part) or None


def _curve(metadata: Any) -> Sequence[Row]:
    rows = _found(metadata, "training.curve", list) or []
    found = [_numbers({"curve": _checked(row, "curve", dict)}, "curve") for row in rows]
    for row in found:
        _needed(row, "decisions", float)
        _needed(row, "rating", float)
    return found


def _hardware(metadata: Any) -> dict[str, str]:
    found: dict[str, Any] = _found(metadata, "training.hardware", dict) or {}
    return {name: brief(value) for name, value in found.items()}


def _strength(metadata: Any) -> list[Measured]:
    met = _met(metadata)
    found = []
    for match in _found(metadata, "strength", list) or []:
        standings = _needed(match, "standings", list)
        if len(standings) != 2:
            raise ValueError(f"a match must have 2 standings, not {len(standings)}")
        policy, opponent = map(_standing, standings)
        seed = _needed(match, "seed", int)
        version = _found(match, "variant.version", int)
        found.append(Measured(opponent.player, opponent.player not in met, seed, policy, version))
    return found


def _met(metadata: Any) -> set[str]:
    """Return the names of players that training used: opponents, the teacher and advisers.

    The names have the same form as the names of players in match results.
    """
    config = "training.config"
    players = _numbers(metadata, f"{config}.opponents.players")
    share = _found(metadata, f"{config}.opponents.share", float)
    names = [name for name, weight in players.items() if weight > 0 and share != 0]
    teacher = _found(metadata, f"{config}.imitation.teacher", str)
    if teacher and _found(metadata, f"{config}.imitation.games", int):
        names.append(teacher)
    return {_called(name) for name in (*names, *_texts(metadata, "advisers"))}


def _called(name: str) -> str:
    try:
        return label(as_spec(name))
    except ValueError:  # not a specification: a file may contain any text
        return name


def _standing(said: Any) -> Standing:
    kinds: dict[str, type] = {"int": int, "float": float, "str": str}
    found: dict[str, Any] = {
        f.name: _needed(said, f.name, kinds[str(f.type)]) for f in fields(Standing)
    }
    return Standing(**found)


def _again(path: Path) -> str | None:
    """Return a command that trains a similar policy, or None if the policy's origin is unknown."""
    shipped = {file: name for name, file in shipped_policies().items()}
    if path in shipped:
        return f"armarl train {shipped[path]}"
    config = path.parent / CONFIG_FILE
    if path.name in (POLICY_FILE, BEST_FILE) and config.is_file():
        return f"armarl train {shlex.quote(str(config))} --run NEW_FOLDER"
    return None
