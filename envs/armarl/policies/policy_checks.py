"""Checks of a saved policy against the game that it should play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarl.common.json_text import same_json
from armarl.common.messages import brief
from armarl.networks.judge import survey_of
from armarl.networks.policy_network import NetworkError, Tensors, widths
from armarl.players.advice import MOST_ADVISERS, Advice
from armarl.policies.paths import policy_name
from armarl.policies.safetensors_file import PolicyError

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl.policies.weight_kinds import WeightKind


def check_policy_variant(path: Path, variant: Any, game: Game) -> bool:
    """Refuse a policy for another game, version, variant, action table or observation table.

    Returns:
        True if the policy was made for a version in `Game.earlier`, which had other rules. Options
        that such a policy does not name have their defaults. An earlier version has the same
        observations as this version, although the hash of their table may differ.

    Raises:
        PolicyError: the policy was made for another game, version, variant or table.
    """
    if not isinstance(variant, dict):
        raise PolicyError(f"{path} does not name its game: its metadata lack `variant`")
    said = dict(variant)
    known = any(same_json(said.get("version"), version) for version in game.earlier)
    earlier = said.get("game") == game.name and known
    if earlier:
        said |= {"version": game.version, "observation": game.observation.hash}
        if isinstance(said.get("options"), dict):
            said["options"] = {**game.make(players=game.players).options, **said["options"]}
    for key, wanted in game.variant.items():
        if not same_json(had := said.get(key), wanted):
            if key == "options" and isinstance(had, dict):
                had, wanted = _differences(had, wanted)
            else:
                pair = (brief(repr(one)) for one in (variant.get(key), wanted))
                had, wanted = (f"{x} players" if key == "players" else f"{key} {x}" for x in pair)
            raise PolicyError(
                f"{policy_name(path)} was made for {had}, but this game has {wanted} "
                f"({game.name} {game.version}, {game.players} players)"
            )
    return earlier


def _differences(one: dict[str, Any], other: dict[str, Any]) -> tuple[str, str]:
    """Return the differing options of two variants, as they are written on a command line."""
    absent = "the default"
    keys = [
        key
        for key in sorted({*one, *other})
        if not same_json(one.get(key, absent), other.get(key, absent))
    ]
    first, second = (
        "options " + brief(", ".join(f"{key}={_value(known.get(key, absent))}" for key in keys))
        for known in (one, other)
    )
    return first, second


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | None) else brief(value, 60)


def check_advisers(
    path: Path, game: Game, metadata: Mapping[str, Any], earlier: bool = False
) -> list[str]:
    """Check the advisers (scripted players) that the metadata lists, and return them.

    The advice is not compared if the policy was made for an earlier version of the game, because
    the earlier version had other rules.

    Raises:
        PolicyError: an adviser does not exist, or its advice is not the same as during training.
    """
    advisers = metadata.get("advisers", [])
    if not isinstance(advisers, list) or not all(isinstance(name, str) for name in advisers):
        raise PolicyError(f"{path}: advisers must be a list of player names")
    if len(advisers) > MOST_ADVISERS:
        raise PolicyError(f"{path} must have at most {MOST_ADVISERS} advisers, not {len(advisers)}")
    try:
        found = Advice(game, advisers).digest() if advisers else None
    except ValueError as error:
        raise PolicyError(f"{path} has unusable advisers: {brief(error)}") from error
    if found != metadata.get("advice") and not earlier:
        said = brief(", ".join(advisers) or "no adviser")
        raise PolicyError(
            f"{path} was trained with advice that differs from the advice of {said} in this "
            "version of the scripted player; train it again"
        )
    return advisers


def check_weights(
    path: Path,
    kind: WeightKind,
    game: Game,
    tensors: Tensors,
    activation: Any,
    advisers: Sequence[str],
) -> None:
    """Refuse weights that do not fit each other, the game or the advisers.

    Raises:
        PolicyError: the weights do not fit.
    """
    try:
        kind.check(game, tensors, activation, len(advisers))
    except NetworkError as error:
        raise PolicyError(f"{path}: {brief(error)}") from error


def check_description(path: Path, kind: WeightKind, described: Any, tensors: Tensors) -> None:
    """Refuse a file whose metadata and weights disagree about the network.

    Raises:
        PolicyError: the layer widths differ.
    """
    found = layer_widths(kind, tensors)
    if described != found:
        said = brief(str(described))
        raise PolicyError(
            f"{path} describes its network as {said}, but its weights form {brief(str(found))}"
        )


def layer_widths(kind: WeightKind, tensors: Tensors) -> dict[str, list[int]]:
    """Return the layer widths of each part of a network."""
    return widths(tensors, kind.parts)


def check_survey(path: Path, kind: WeightKind, surveyed: Any, game: Game) -> None:
    """Refuse a judge (a value network) for another survey, and a survey hash without a judge.

    Raises:
        PolicyError: the survey in the metadata is not the one that the network needs.
    """
    try:
        wanted = survey_of(game).hash if kind.reads_survey else None
    except ValueError as error:
        raise PolicyError(f"{path}: {brief(error)}") from error
    if surveyed != wanted:
        said = brief(repr(surveyed))
        raise PolicyError(
            f"{path} has the survey hash {said}, but this network and game need {wanted!r} (None: "
            "no survey); train it again"
        )
