"""Saved policies: one safetensors file with the weights and readable metadata.

Loading a file checks all of it and runs no code from it. Playing needs only NumPy and safetensors.
The metadata is JSON in the file's header: the game variant with the hashes of its action and
observation tables, the network, the training, and the measured strength. `armarl info FILE --json`
prints it. Some policies come with this package and can be loaded by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

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

P = ParamSpec("P")
OWN_ENTRIES = ("format", "variant", "network", "survey", "advice")  # metadata that ArmaRL writes


def _not_of_sb3(save: Callable[P, None]) -> Callable[P, None]:
    """Make a function that takes weights refuse a model of Stable-Baselines3, with a hint."""

    @wraps(save)
    def saving(*args: P.args, **kwargs: P.kwargs) -> None:
        for given in (*args[1:2], kwargs.get("game"), kwargs.get("model")):
            if hasattr(given, "policy") and callable(getattr(given, "predict", None)):
                raise TypeError(
                    "armarl.save_policy takes a game and weights, not a model of "
                    "Stable-Baselines3; save the model with "
                    "armarl_training.sb3.save_policy(path, model)"
                )
        save(*args, **kwargs)

    return saving


@_not_of_sb3
def save_policy(
    path: str | Path,
    game: Game,
    tensors: Tensors,
    activation: str,
    advisers: Sequence[str] = (),
    **details: Any,
) -> None:
    """Save the weights of a policy as a safetensors file.

    `armarl_training.sb3.save_policy(path, model)` saves a model of Stable-Baselines3.

    Args:
        path: file to write. An existing file is replaced, and missing folders are made.
        game: the game that the policy plays.
        tensors: the weights, see `NetworkPlayer.tensors`.
        activation: "relu" or "tanh".
        advisers: specifications of the scripted players whose advice the network weighs.
        details: further JSON values for the metadata, such as the training and the strength. They
            must not have the names of ArmaRL's own entries: `format`, `variant`, `network`,
            `survey` and `advice`.

    Raises:
        PolicyError: the weights do not fit each other or the game, the details are too large, or
            `path` has the suffix of a pickle file.
        TypeError: `game` is not a `Game`, a model of Stable-Baselines3 was passed, or a detail is
            not a JSON value.
        ValueError: an adviser does not exist, a detail has the name of one of ArmaRL's own entries,
            or a number in the details is not finite.
        ImportError: the package `safetensors` (extra `play`) is not installed.
        OSError: the file could not be written. An existing file at `path` is left unchanged.

    Example:
        >>> import tempfile
        >>> import armarl
        >>> policy = armarl.load_policy("armadora-2p")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/copy.safetensors"
        ...     armarl.save_policy(path, policy.game, policy.tensors, policy.activation, note="a")
        ...     copy = armarl.load_policy(path)
        >>> copy.name, copy.metadata["note"], copy.weights_digest() == policy.weights_digest()
        ('copy', 'a', True)
    """
    check_game(game)
    if taken := [name for name in OWN_ENTRIES if name in details]:
        raise ValueError(
            f"a detail must not be called {taken[0]}: ArmaRL writes the entries "
            f"{', '.join(OWN_ENTRIES)} itself; choose another name"
        )
    if pickle_refusal(str(path)):
        raise PolicyError(
            f"{path} has the suffix of a pickle file, but a policy is a safetensors file; name it "
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
    """Return the file of a saved policy.

    Args:
        name: path of the file or of a run's folder, or the name of a shipped policy.

    Raises:
        FileNotFoundError: the policy does not exist. The message lists the shipped policies.
        ValueError: `name` is a player specification with arguments.
        TypeError: `name` is neither a string nor a path.
    """
    if not isinstance(name, str | Path):
        raise TypeError(
            "a policy must be given as text or a Path (a file, a run's folder, or a shipped "
            f"policy), not {brief(repr(name), 60)}"
        )
    found = policy_path(str(name))
    if found is None or not found.is_file():
        base, _, arguments = str(name).partition(":")
        if arguments and policy_path(base):
            raise ValueError(
                f"{name} specifies a player, not a policy; call load_policy({base!r}) with sample= "
                f"or temperature=, or make_player({str(name)!r}, game)"
            )
        raise FileNotFoundError(
            f"there is no file {name}, no run with a policy, and no shipped policy of that "
            f"name{did_you_mean(str(name), shipped_policies())}; the shipped policies are "
            f"{', '.join(shipped_policies())}"
        )
    return found


def read_policy_metadata(path: str | Path) -> dict[str, Any]:
    """Check that the file of a saved policy is intact, and return its metadata."""
    return read_policy(policy_file(path))[1]


def read_policy(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Check that a policy file is intact, and return its weights and metadata."""
    if said := file_refusal(Part(str(path))):
        raise PolicyError(said)
    return read_tensors(path, FORMAT, *EARLIER_FORMATS)


def policy_game(path: str | Path) -> Game:
    """Return the game that a saved policy plays.

    Raises:
        FileNotFoundError: the file does not exist.
        PolicyError: the file is damaged, or its game or options do not exist in this version.
    """
    variant: Any = read_policy_metadata(path).get("variant")
    try:
        return restore_game(variant["game"], {"players": variant["players"], **variant["options"]})
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"{path} is for a game that cannot be made: {brief(error)}") from error


def _that_fit(game: Game) -> str:
    """Return a hint that names the shipped policies for this variant, or an empty string."""
    fitting = []
    for name, path in sorted(shipped_policies().items()):
        with suppress(PolicyError):
            check_policy_variant(path, read_policy(path)[1].get("variant"), game)
            fitting.append(name)
    return f"; policies that play it: {', '.join(fitting)}" if fitting else ""


def load_policy(
    path: str | Path,
    game: Game | None = None,
    *,
    sample: bool | None = None,
    temperature: float | None = None,
) -> NetworkPlayer:
    """Load a saved policy as a player.

    Args:
        path: path of the file or of a run's folder, or the name of a shipped policy such as
            `armadora-2p`.
        game: the game to play. None: the game for which the policy was made.
        sample: True to draw from the policy's distribution, False to take the likeliest action.
            None: True if a temperature is given, otherwise False.
        temperature: number by which logits are divided before sampling; above 0, at most 1e6.
            None: 1.

    Returns:
        The player. Its `metadata` comes from the file.

    Warns:
        UserWarning: the policy was made for an earlier version of the game, which had other rules
            but the same actions and observations (`Game.earlier`).

    Raises:
        FileNotFoundError: the file does not exist.
        PolicyError: the file is damaged or not a policy, or was made for another game, version or
            variant, another action or observation table, or advisers that now play differently.
        ImportError: the package `safetensors` (extra `play`) is not installed.
        TypeError: `path`, `game`, `sample` or `temperature` has the wrong type.
        ValueError: `temperature` is out of range, or given with `sample=False`; or `path` is a
            player specification with arguments.

    Example:
        >>> import armarl
        >>> policy = armarl.load_policy("armadora-2p", temperature=0.5)
        >>> policy.name, policy.game.name, policy.game.players, policy.sample
        ('armadora-2p', 'armadora', 2, True)
    """
    if game is not None:
        check_game(game)
    path, asked = policy_file(path), Path(path)
    tensors, metadata = read_policy(path)
    if game is None:
        game = policy_game(path)
    try:
        earlier = check_policy_variant(path, metadata.get("variant"), game)
    except PolicyError as error:
        raise PolicyError(f"{error}{_that_fit(game)}") from error
    if earlier:
        warnings.warn(
            f"{brief(called(str(asked)))} was made for version {metadata['variant']['version']} of "
            f"{game.name}; it plays version {game.version}, whose rules it has not learnt",
            stacklevel=2,
        )
    advisers = check_advisers(path, game, metadata, earlier)
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
