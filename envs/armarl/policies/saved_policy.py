"""Saved policies: one safetensors file with the weights and readable metadata.

Loading runs no code and checks everything; playing needs NumPy and safetensors only. The metadata
is JSON in the file's header (`armarl info FILE --json` prints it): the variant with the hashes of
its tables, the network, how it was trained and how strong it was measured to be. Some policies come
with this package: their names stand for their files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.files import POLICY_FILE, write_bytes
from armarl.common.messages import brief, did_you_mean
from armarl.core.game import Game, check_game, restore_game
from armarl.networks.critic import check_critic, is_critic
from armarl.networks.judge import PARTS as JUDGE_PARTS
from armarl.networks.judge import check_judge, is_judge, survey_of
from armarl.networks.policy_network import PARTS, NetworkError, Tensors, check_network, widths
from armarl.players import called, file_refusal, pickle_refusal, policy_path, shipped_policies
from armarl.players.advice import MOST_ADVISERS, Advice
from armarl.players.player_specs import Part
from armarl.policies.network_players import NetworkPlayer, player_class

FORMAT = "armarl-policy-4"
# What earlier versions wrote: no judges; no parts for a board; no trunk, nor a word of one in what
# they say of their networks.
EARLIER_FORMATS = ("armarl-policy-3", "armarl-policy-2", "armarl-policy-1")
MOST_BYTES = 256 << 20  # of a file
MOST_HEADER = 4 << 20  # bytes of it that are no weights
MOST_TENSORS = 4096


class PolicyError(ValueError):
    """A policy file that cannot be used: damaged, foreign, or made for another game or variant."""


def write_tensors(path: Path, tensors: Tensors, metadata: Mapping[str, Any]) -> None:
    """Write a safetensors file so that `path` always holds the old file or the new one, whole.

    Raises:
        OSError: the disk is full or not writable; what was at `path` is untouched.
    """
    from safetensors.numpy import save

    text = json.dumps(metadata)
    data = save(
        {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()},
        {"armarl": text, "sha256": _digest(text, tensors)},
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data)


def read_tensors(path: Path, *formats: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Tensors and metadata of a file that `write_tensors` wrote, in one of these formats.

    Raises:
        PolicyError: the file is damaged, or is no such file.
        FileNotFoundError: there is none.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError("saved policies need safetensors: pip install 'armarl[play]'") from error
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        _check_header(path)
        with safe_open(path, framework="numpy") as file:
            header, names = file.metadata() or {}, file.keys()
            if len(names) > MOST_TENSORS:
                raise ValueError(f"it holds more than {MOST_TENSORS} tensors")
            tensors = {name: file.get_tensor(name) for name in names}
        if not all(array.dtype.isbuiltin == 1 for array in tensors.values()):
            raise ValueError("it holds numbers of a type that NumPy lacks")  # ml_dtypes has it
        text = header.get("armarl", "{}")
        metadata = json.loads(text)
    except PolicyError:
        raise
    except (
        *(SafetensorError, ValueError, OSError, RecursionError),
        *(TypeError, AttributeError),  # NumPy lacks a type of numbers
    ) as error:
        raise PolicyError(f"{path} is damaged or no safetensors file: {brief(error)}") from error
    if not isinstance(metadata, dict) or metadata.get("format") not in formats:
        raise PolicyError(_of_another_format(path, metadata, formats[0]))
    if header.get("sha256") != _digest(text, tensors):
        raise PolicyError(f"{path} is damaged: its contents do not match their checksum")
    return tensors, metadata


def _check_header(path: Path) -> None:
    """Check the length of the header, with which such a file begins, 8 bytes before a `{`.

    Raises:
        PolicyError: the file is of another kind.
        ValueError: it is too long.
    """
    with path.open("rb") as raw:
        length, brace = int.from_bytes(raw.read(8), "little"), raw.read(1)
    if length <= MOST_HEADER:
        return
    if brace != b"{":
        raise PolicyError(f"{path} is no safetensors file, which saved policies are")
    raise ValueError(f"its header is larger than {MOST_HEADER >> 20} MiB")


def _of_another_format(path: Path, metadata: Any, wanted: str) -> str:
    """What a file is, or that it is none of ours, in place of what is wanted."""
    found = metadata.get("format") if isinstance(metadata, dict) else None
    found = found if isinstance(found, str) else ""
    if wanted == FORMAT and found.startswith("armarl-checkpoint-"):
        return (
            f"{path} is the checkpoint of a run, by which training goes on, not a policy: name the "
            f"run's folder {path.parent}, or the {POLICY_FILE} in it"
        )
    other = f": its format is {brief(repr(found), 60)}" if found else ""
    return f"{path} was not written by this version of ArmaRL as {wanted!r}{other}"


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
    _check_network(Path(path), game, tensors, activation, advisers)
    metadata = {"format": FORMAT, "variant": game.variant, "activation": activation, **details}
    metadata["network"] = _described(tensors)
    if is_judge(tensors):
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
    _check_variant(path, metadata.get("variant"), game)
    advisers = _check_advisers(path, game, metadata)
    _check_survey(path, metadata.get("survey"), game, tensors)
    _check_network(path, game, tensors, metadata.get("activation"), advisers)
    if metadata["format"] != EARLIER_FORMATS[-1]:
        _check_description(path, metadata.get("network"), tensors)
    return player_class(tensors)(
        game,
        tensors,
        metadata["activation"],
        advisers=advisers,
        name=called(str(asked)),
        sample=sample,
        temperature=temperature,
        metadata=metadata,
    )


def _check_variant(path: Path, variant: Any, game: Game) -> None:
    """Refuse a policy of another game, version, variant or of other tables."""
    if not isinstance(variant, dict):
        raise PolicyError(f"{path} does not say which game it plays")
    for key, wanted in game.variant.items():
        if variant.get(key) != wanted:
            raise PolicyError(
                f"{path} was made for {key} {brief(repr(variant.get(key)))}, this game has {key} "
                f"{brief(repr(wanted))} ({game.name} {game.version}, {game.players} players)"
            )


def _check_advisers(path: Path, game: Game, metadata: Mapping[str, Any]) -> list[str]:
    """Refuse advisers that there are not, or who advise otherwise than when it was trained."""
    advisers = metadata.get("advisers", [])
    if not isinstance(advisers, list) or not all(isinstance(name, str) for name in advisers):
        raise PolicyError(f"{path} does not name its advisers as a list of players")
    if len(advisers) > MOST_ADVISERS:
        raise PolicyError(f"{path} has more than {MOST_ADVISERS} advisers")
    try:
        found = Advice(game, advisers).digest() if advisers else None
    except ValueError as error:
        raise PolicyError(f"{path}: its advisers: {brief(error)}") from error
    if found != metadata.get("advice"):
        said = brief(", ".join(advisers) or "nobody")
        raise PolicyError(
            f"{path} was trained with advice of {said} that this version of the scripted player "
            "does not give: train it anew"
        )
    return advisers


def _check_network(
    path: Path, game: Game, tensors: Tensors, activation: Any, advisers: Sequence[str]
) -> None:
    """Refuse weights that do not fit each other or the game."""
    try:
        if is_judge(tensors):
            if activation != "relu" or advisers:
                raise NetworkError(
                    f"a judge's activation is relu and he takes no advice, not {activation!r} and "
                    f"{list(advisers)}"
                )
            check_judge(game, tensors)
        elif is_critic(tensors):
            check_critic(game, tensors, activation, len(advisers))
        else:
            check_network(game, tensors, activation, len(advisers))
    except NetworkError as error:
        raise PolicyError(f"{path}: {brief(error)}") from error


def _check_description(path: Path, described: Any, tensors: Tensors) -> None:
    """Refuse a file whose weights are not of the network that its metadata describe."""
    found = _described(tensors)
    if described != found:
        said = brief(str(described))
        raise PolicyError(f"{path} describes its network as {said}, but holds {brief(str(found))}")


def _described(tensors: Tensors) -> dict[str, list[int]]:
    """The widths of a network's layers, by part."""
    return widths(tensors, JUDGE_PARTS if is_judge(tensors) else PARTS)


def _check_survey(path: Path, surveyed: Any, game: Game, tensors: Tensors) -> None:
    """Refuse a judge who reads another survey than the game's, and a survey without a judge."""
    try:
        wanted = survey_of(game).hash if is_judge(tensors) else None
    except ValueError as error:
        raise PolicyError(f"{path}: {brief(error)}") from error
    if surveyed != wanted:
        said = brief(repr(surveyed))
        raise PolicyError(
            f"{path} was made for the survey {said}, this game has {wanted!r}: train it anew"
        )


def _digest(text: str, tensors: Tensors) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
        digest.update(tensor.tobytes())
    return digest.hexdigest()
