"""Saved policies: one safetensors file with the weights and readable metadata.

Loading runs no code and checks everything; playing needs NumPy and safetensors only. The metadata
is JSON in the file's header (`armarl info FILE --json` prints it): the variant with the hashes of
its tables, the network, how it was trained and how strong it was measured to be. Some policies come
with this package: their names stand for their files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from armarl.common.messages import brief, did_you_mean
from armarl.core.game import Game, check_game
from armarl.games.make_game import restore_game
from armarl.networks.judge import survey_of
from armarl.networks.policy_network import Tensors
from armarl.players.advice import Advice
from armarl.players.player_specs import Part
from armarl.players.registry import shipped_policies
from armarl.policies.network_players import NetworkPlayer
from armarl.policies.paths import called, file_refusal, pickle_refusal, policy_path
from armarl.policies.policy_checks import (
    check_advisers,
    check_description,
    check_policy_variant,
    check_survey,
    check_weights,
    layer_widths,
)
from armarl.policies.safetensors_file import (
    EARLIER_FORMATS,
    FORMAT,
    PolicyError,
    read_tensors,
    write_tensors,
)
from armarl.policies.weight_kinds import weight_kind

MOST_BYTES = 256 << 20  # of a file


def save_policy(
    path: str | Path,
    game: Game,
    tensors: Tensors,
    activation: str,
    advisers: Sequence[str] = (),
    **details: Any,
) -> None:
    """Save a policy. `details` are JSON values kept in the metadata: training, strength, ...

    Raises:
        PolicyError: the weights do not fit each other or the game, or the name is a pickle's.
        OSError: it could not be written; what was at `path` is untouched.
    """
    if pickle_refusal(str(path)):
        raise PolicyError(
            f"{path}: a policy is no pickle, for which its name would be taken; call it "
            f"{Path(path).with_suffix('.safetensors').name}"
        )
    kind = weight_kind(tensors)
    check_weights(Path(path), kind, game, tensors, activation, advisers)
    metadata = {"format": FORMAT, "variant": game.variant, "activation": activation, **details}
    metadata["network"] = layer_widths(kind, tensors)
    if kind.reads_survey:
        metadata["survey"] = survey_of(game).hash
    if advisers:
        metadata["advisers"] = list(advisers)
        metadata["advice"] = Advice(game, advisers).digest()
    write_tensors(Path(path), tensors, metadata)


def policy_file(name: str | Path) -> Path:
    """The file of a saved policy: the path itself, a run's folder, or a shipped policy's name.

    Raises:
        FileNotFoundError: there is none; the message names the shipped policies.
        ValueError: it is a specification of a policy with arguments.
        TypeError: it is neither text nor a path.
    """
    if not isinstance(name, str | Path):
        raise TypeError(
            "a policy is named by text or a Path (a file, a run's folder, or a shipped policy), "
            f"not {brief(repr(name), 60)}"
        )
    found = policy_path(str(name))
    if found is None or not found.is_file():
        base, _, arguments = str(name).partition(":")
        if arguments and policy_path(base):
            raise ValueError(
                f"{name} is a player by a policy, not a policy: load_policy takes {base!r} with "
                f"sample= or temperature=, and make_player takes {str(name)!r}"
            )
        raise FileNotFoundError(
            f"there is no file {name}, no run with a policy, and no shipped policy of that "
            f"name{did_you_mean(str(name), shipped_policies())}; shipped are: "
            f"{', '.join(shipped_policies())}"
        )
    return found


def read_policy_metadata(path: str | Path) -> dict[str, Any]:
    """The metadata of a saved policy, after checking that the file is whole."""
    return read_policy(policy_file(path))[1]


def read_policy(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Weights and metadata of a policy's file, after checking that it is whole."""
    if said := file_refusal(Part(str(path))):
        raise PolicyError(said)
    if path.stat().st_size > MOST_BYTES:
        raise PolicyError(f"{path} is larger than any policy, {MOST_BYTES >> 20} MiB")
    return read_tensors(path, FORMAT, *EARLIER_FORMATS)


def policy_game(path: str | Path) -> Game:
    """The game that a saved policy plays.

    Raises:
        FileNotFoundError: there is no such file.
        PolicyError: it is damaged, or made for a game or an option that this version lacks.
    """
    variant: Any = read_policy_metadata(path).get("variant")
    try:
        return restore_game(variant["game"], {"players": variant["players"], **variant["options"]})
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"{path} does not say a game that can be made: {brief(error)}") from error


def load_policy(
    path: str | Path,
    game: Game | None = None,
    *,
    sample: bool | None = None,
    temperature: float | None = None,
) -> NetworkPlayer:
    """Load a saved policy as a player of `game` (default: the game it was made for).

    Args:
        path: of the file or of a run's folder, or the name of a shipped policy: `armadora-2p`.
        sample: draw from the policy's distribution instead of taking the likeliest action; None:
            where a temperature is given.
        temperature: the same, with logits divided by it; above 0, to 1e6. None: 1.

    Raises:
        FileNotFoundError: there is no such file.
        PolicyError: it is damaged, or was made for another game, version, variant or table.
        TypeError: `path`, `game`, `sample` or `temperature` is of another kind.
        ValueError: `temperature` is out of range, or given with `sample=False`.
    """
    if game is not None:
        check_game(game)
    path, asked = policy_file(path), Path(path)
    tensors, metadata = read_policy(path)
    if game is None:
        game = policy_game(path)
    check_policy_variant(path, metadata.get("variant"), game)
    advisers = check_advisers(path, game, metadata)
    kind = weight_kind(tensors)
    check_survey(path, kind, metadata.get("survey"), game)
    check_weights(path, kind, game, tensors, metadata.get("activation"), advisers)
    if metadata["format"] != EARLIER_FORMATS[-1]:
        check_description(path, kind, metadata.get("network"), tensors)
    return kind.player(
        game,
        tensors,
        metadata["activation"],
        advisers=advisers,
        name=called(str(asked)),
        sample=sample,
        temperature=temperature,
        metadata=metadata,
    )
