"""Make a player from its specification (grammar: `armarl.players.player_specs`)."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

from armarl.common.files import POLICY_FILE
from armarl.common.messages import brief, did_you_mean
from armarl.common.user_code import import_own
from armarl.core.game import Game, check_game
from armarl.games.catalogue import game_names
from armarl.players.player_specs import Part, Spec, as_spec
from armarl.players.protocol import Player, check_player, check_variant, no_exit
from armarl.players.registry import (
    Factory,
    PlayerLike,
    find_player,
    find_wrapper,
    player_names,
    shipped_policies,
    wrapper_names,
)
from armarl.players.simple_players import style_names
from armarl.players.wrappers import NoisyPlayer, OpeningPlayer
from armarl.policies.paths import _is_folder, file_refusal, label, policy_path
from armarl.roster.factory_arguments import _call, _OwnPart

# Arguments that every player takes, each with the wrapper that implements it, outermost first. A
# factory's own argument of the same name takes precedence.
_HABITS: dict[str, Factory] = {"noise": NoisyPlayer, "first_random": OpeningPlayer}


def make_player(player: PlayerLike, game: Game, *, code: bool = True) -> Player:
    """Make a player of `game` from a specification or the path of a saved policy.

    A name is looked up in this order:

    1. built-in and registered players, such as `random`, `greedy` and `human`
    2. shipped policies, such as `armadora-2p`
    3. the path of a saved policy or of a run's folder
    4. a class of your own, as `module:Class`, which is imported

    An object that is already a `Player` is returned unchanged.

    Args:
        player: the specification, path or player.
        game: the variant that it will play.
        code: True to allow `module:Class`, which imports user code. Pass False if the specification
            comes from a file.

    Returns:
        The player. Its `name` is the specification, with a policy's name in place of its path. A
        `Player` keeps its name.

    Raises:
        TypeError: `player` is not a specification, path or player; or your class or function does
            not take a game or did not return a player; or `game` is not a `Game`.
        RuntimeError: your class or function tried to end the program.
        ValueError: the player, its file or an argument is unknown, an argument is wrong, or the
            player was made for another variant.
        PolicyError: the file is not a policy for this game, version or variant.
        FileNotFoundError: the file of an `onnx` player does not exist.
        ImportError: the player needs a package that is not installed.
        Exception: any other error that your class or function raises.

    Example:
        >>> from armarl import make_game, make_player
        >>> make_player("greedy:noise=0.2", make_game("armadora")).name
        'greedy:noise=0.2'
    """
    check_game(game)
    if hasattr(player, "choose"):
        given = check_player(player, brief(repr(player)))
        check_variant(given, game)
        return given
    if not isinstance(player, str | Path | Spec):
        raise TypeError(
            f"a player must be a specification, a path or a Player, not {brief(repr(player))}"
            f"{_how_to_play(player)}"
        )
    spec = as_spec(player)
    made = _make_base(spec.base, game, code)
    for part in spec.around:
        made = _make_around(part, made, game)
    _call_by(made, spec)
    check_variant(made, game)
    return made


def _how_to_play(given: object) -> str:
    """Return a hint on how to turn an object (an SB3 model, a function) into a player, or ""."""
    if callable(getattr(given, "predict", None)):  # a model of Stable-Baselines3
        return (
            "; save a MaskablePPO with armarl_training.sb3.save_policy(path, model, game), then "
            "give the path"
        )
    if callable(given):
        return "; a player is an object with a `name` and choose(states, seats, draws)"
    return ""


def _call_by(player: Player, spec: Spec) -> None:
    """Set a player's name to its specification.

    Raises:
        TypeError: the name cannot be set.
    """
    try:
        player.name = label(spec)
    except AttributeError as error:
        raise TypeError(
            f"{brief(spec)}: the `name` of {type(player).__name__} cannot be set; make `name` a "
            "plain attribute, because make_player sets it to the specification"
        ) from error


def _make_base(part: Part, game: Game, code: bool) -> Player:
    """Make the player of a specification's first part, in the wrappers that its arguments need."""
    if said := file_refusal(part):
        raise ValueError(said)
    factory = find_player(part.name)
    if factory is None and (path := policy_path(part.name)):
        factory = _policy_factory(path)
    if factory is None and part.name in style_names(game):
        raise ValueError(
            f"{part.name} is a style of the greedy player; name it as greedy:style={part.name}"
        )
    if factory is None:
        factory, part = _imported(part, code)
    own_names = inspect.signature(factory).parameters
    possible = {name: habit for name, habit in _HABITS.items() if name not in own_names}
    habits = {name: value for name, value in part.settings if name in possible}
    own = replace(part, settings=tuple(s for s in part.settings if s[0] not in habits))
    player = _call(factory, own, possible, game, apart=habits)
    for name in [name for name in reversed(possible) if name in habits]:
        player = _call(_HABITS[name], Part(name, (habits[name],)), {}, game, player)
    return player


def _make_around(part: Part, player: Player, game: Game) -> Player:
    factory = find_wrapper(part.name, getattr(player, "around", {}))
    if factory is None:
        known = ", ".join(f"+{name}" for name in wrapper_names())
        raise ValueError(f"unknown wrapper +{brief(part.name)}; choose from {known}")
    return _call(factory, part, {}, game, player)


def _policy_factory(path: Path) -> Factory:
    def policy(game: Game, sample: bool | None = None, temperature: float | None = None) -> Player:
        from armarl.policies.saved_policy import load_policy

        return load_policy(path, game, sample=sample, temperature=temperature)

    return policy


def _imported(part: Part, code: bool) -> tuple[Factory, Part]:
    """Import the class or function that `module:Class` names.

    Return the class or function, and a part of a specification with its arguments.
    """
    name, arguments = part.name, part.arguments
    written = arguments and isinstance(arguments[0], str) and arguments[0].isidentifier()
    if not written or not all(word.isidentifier() for word in name.split(".")):
        raise ValueError(_second_colon(part) or _unknown(name))
    if not code:
        raise ValueError(
            f"unknown player {brief(part)}; user code (module:Class) is not imported here. Pass "
            "the player as an object, register it (armarl.register_player), or train with --code "
            "(in Python code=True)"
        )
    try:
        with no_exit(f"the module {name}"):
            factory = getattr(import_own(name), str(arguments[0]))
    except ModuleNotFoundError as error:
        known = player_names()
        raise ValueError(
            f"unknown player {brief(part)}{did_you_mean(name, known)}: {error}; choose from "
            f"{', '.join(known)}, or give an importable module:Class"
        ) from error
    except AttributeError as error:
        raise ValueError(f"unknown player {str(part)!r}: {error}") from error
    if not callable(factory):
        found = brief(repr(factory), 60)
        raise ValueError(f"{brief(part)} is {found}, not a class or function that makes players")
    return factory, _OwnPart(f"{name}:{arguments[0]}", arguments[1:], part.settings)


def _second_colon(part: Part) -> str | None:
    """Return the error text for the wrong form `module:Class:argument`, or None for other forms."""
    given = [*part.arguments, *(f"{key}=..." for key, _ in part.settings)]
    own, colon, argument = str(given[0]).partition(":") if given else ("", "", "")
    if not colon or not own.isidentifier():
        return None
    return (
        f"unknown player {part.name}:{own}:{argument}: put a comma before the arguments of your "
        f"class, as in {part.name}:{own},{argument}"
    )


def _unknown(name: str) -> str:
    """Return the error text for an unknown player, with the closest known names."""
    if Path(name).suffix == ".safetensors" or len(Path(name).parts) > 1 or _is_folder(name):
        what = f"this folder has no {POLICY_FILE}" if _is_folder(name) else "no such file or folder"
        return f"unknown player {name!r}: {what}"
    if name in game_names():
        policies = sorted((p for p in shipped_policies() if p.split("-")[0] == name), key=len)
        return (
            f"{name} is a game, not a player; name a player, and the game with --game {name} (in "
            "Python make_game)" + (f", or a policy such as {policies[0]}" if policies else "")
        )
    if "," in name:
        names = [word.strip() for word in name.split(",")]
        return (
            f"unknown player {brief(repr(name))}: give several players as a list with one name for "
            f"each of them: {brief(names)}"
        )
    known = player_names()
    return (
        f"unknown player {name!r}{did_you_mean(name, known)}; choose from {', '.join(known)}, or "
        "give the path of a saved policy or of a run's folder, or a class of yours as module:Class"
    )
