"""Cards of saved policies: what a file says of itself, checked. `policy_card_text` shows them.

A file may come from a stranger, and most of its metadata nobody else reads: what is not there the
card leaves out, and what is of the wrong kind it refuses.
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

WINS = "wins/"  # before an anchor's name in a row of a curve
_LARGEST = 1e15  # number that anybody writes into a file
_KINDS: Mapping[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a table",
}

T = TypeVar("T")
Row = Mapping[str, float]  # of a curve: decisions, minutes, rating, and wins/ANCHOR


class Training(NamedTuple):
    """How a policy was trained; what its file does not say is None, or empty.

    Attributes:
        learner: its name in configurations.
        minutes: of training, over all parts of the run.
        share: part of the games in which others held seats.
        rivals: who these were, and the part of such games each held.
        head_start: what it began with, in words.
        curve: how it stood against its anchors while it learnt.
        hardware: what it was trained on.
    """

    learner: str | None
    seed: int | None
    decisions: int | None
    minutes: float | None
    threads: int | None
    share: float | None
    rivals: dict[str, float]
    head_start: str | None
    curve: Sequence[Row]
    hardware: dict[str, str]


class Measured(NamedTuple):
    """A match that measured a policy.

    Attributes:
        rival: his specification.
        held_out: nobody of his specification was met, or asked, in training.
        standing: of the policy, not of the rival.
    """

    rival: str
    held_out: bool
    seed: int
    standing: Standing


@dataclass(frozen=True)
class Card:
    """What a saved policy says of itself.

    Attributes:
        name: as it was asked for.
        game, players, options: the table that it plays at.
        plays: in one sentence, how it comes to its choice.
        network: the widths of its layers, by part.
        parameters: numbers in its weights.
        again: the command that trains one like it, if there is one.
    """

    name: str
    game: str
    players: int
    options: dict[str, Any]
    plays: str
    network: dict[str, list[int]]
    parameters: int
    training: Training
    strength: list[Measured]
    again: str | None


def read_card(name: str | Path) -> Card:
    """The card of a saved policy: of a file, of a run's folder, or of a shipped policy by its name.

    Raises:
        FileNotFoundError: there is no such policy.
        PolicyError: it is damaged, or says what no card can tell.
    """
    path = policy_file(name)
    tensors, metadata = read_policy(path)
    try:
        return Card(
            name=str(name),
            game=_needed(metadata, "variant.game", str),
            players=_needed(metadata, "variant.players", int),
            options=_found(metadata, "variant.options", dict) or {},
            plays=weight_kind(tensors).describe(_texts(metadata, "advisers")),
            network=_widths(metadata),
            parameters=sum(tensor.size for tensor in tensors.values()),
            training=_training(metadata),
            strength=_strength(metadata),
            again=_again(path),
        )
    except ValueError as error:
        raise PolicyError(f"{path} says what no card can tell: {error}") from error


def _found(said: Any, place: str, kind: type[T]) -> T | None:
    """What stands at a place such as `training.minutes`; None if nothing does.

    Raises:
        ValueError: it is of another kind.
    """
    for key in place.split("."):
        if said is None:
            return None
        if not isinstance(said, dict):
            raise ValueError(f"there is no {brief(place)} in {brief(repr(said))}")
        said = said.get(key)
    return None if said is None else _checked(said, place, kind)


def _checked(value: Any, place: str, kind: type[T]) -> T:
    """A value as it should be; whole numbers are numbers, and neither is anything boundless."""
    right = isinstance(value, (int, float) if kind is float else kind)
    if kind in (int, float) and right:
        right = not isinstance(value, bool) and abs(value) < _LARGEST  # of NaN neither
    if not right:
        raise ValueError(f"{brief(place)} is {brief(repr(value))}, not {_KINDS[kind]}")
    found: T = value
    return found


def _needed(said: Any, place: str, kind: type[T]) -> T:
    value = _found(said, place, kind)
    if value is None:
        raise ValueError(f"there is no {place}")
    return value


def _texts(said: Any, place: str) -> list[str]:
    return [_checked(text, place, str) for text in _found(said, place, list) or []]


def _numbers(said: Any, place: str) -> dict[str, float]:
    """Numbers by name."""
    return {
        name: _checked(number, f"{place}.{name}", float)
        for name, number in (_found(said, place, dict) or {}).items()
    }


def _widths(metadata: Any) -> dict[str, list[int]]:
    """The widths of the network's layers; files of the first format do not say them."""
    parts: dict[str, Any] = _found(metadata, "network", dict) or {}
    return {
        part: [_checked(width, "network", int) for width in _checked(found, "network", list)]
        for part, found in parts.items()
    }


def _training(metadata: Any) -> Training:
    config = "training.config"
    weights = _numbers(metadata, f"{config}.opponents.players")
    weights["earlier selves"] = _found(metadata, f"{config}.opponents.earlier", float) or 0.0
    weights = {name: weight for name, weight in weights.items() if weight > 0}
    every = sum(weights.values())
    return Training(
        learner=_found(metadata, f"{config}.learner", str),
        seed=_found(metadata, f"{config}.seed", int),
        decisions=_found(metadata, "training.decisions", int),
        minutes=_found(metadata, "training.minutes", float),
        threads=_found(metadata, f"{config}.threads", int),
        share=_found(metadata, f"{config}.opponents.share", float),
        rivals={name: weight / every for name, weight in weights.items()},
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
            raise ValueError(f"a match has {len(standings)} standings instead of 2")
        policy, rival = map(_standing, standings)
        seed = _needed(match, "seed", int)
        found.append(Measured(rival.player, rival.player not in met, seed, policy))
    return found


def _met(metadata: Any) -> set[str]:
    """What those are called whom the policy met, or asked, in training, as matches call them."""
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
    except ValueError:  # no specification; files say anything
        return name


def _standing(said: Any) -> Standing:
    kinds: dict[str, type] = {"int": int, "float": float, "str": str}
    found: dict[str, Any] = {
        f.name: _needed(said, f.name, kinds[str(f.type)]) for f in fields(Standing)
    }
    return Standing(**found)


def _again(path: Path) -> str | None:
    """The command that trains a policy like that of a file: shipped, or of a run."""
    shipped = {file: name for name, file in shipped_policies().items()}
    if path in shipped:
        return f"armarl train {shipped[path]}"
    config = path.parent / CONFIG_FILE
    if path.name in (POLICY_FILE, BEST_FILE) and config.is_file():
        return f"armarl train {shlex.quote(str(config))} --run NEW_FOLDER"
    return None
