"""Making a player from his specification (see `armarl.players.player_specs`)."""

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
from armarl.players.registry import Factory, PlayerLike, _around, _named, _players, shipped_policies
from armarl.players.wrappers import NoisyPlayer, OpeningPlayer
from armarl.policies.paths import _is_folder, file_refusal, label, policy_path
from armarl.roster.factory_arguments import _call, _OwnPart

# What every player takes besides his own arguments, unless one of these has the name; outermost
# first.
_HABITS: dict[str, Factory] = {"noise": NoisyPlayer, "first_random": OpeningPlayer}


def make_player(player: PlayerLike, game: Game, *, code: bool = True) -> Player:
    """A player of `game` from his specification, or from the path of a saved policy.

    A specification names, in this order: a registered player (`random`, `greedy`, `human`, ...), a
    shipped policy (`armadora-2p`), the path of a saved policy or of the folder of a run, or a class
    of one's own as `module:Class`, which is imported and called like a registered factory. A
    `Player` is returned as he is.

    Args:
        code: whether `module:Class` may import; False for what comes out of a file.

    Raises:
        TypeError: neither a specification, a path nor a player; or what a class or function of
            one's own makes is none; or `game` is no `Game`.
        RuntimeError: it tried to end the program.
        ValueError: no such player or argument, or a player of another variant.
        PolicyError: the file is no policy for this game, version or variant.
    """
    check_game(game)
    if hasattr(player, "choose"):
        given = check_player(player, brief(repr(player)))
        check_variant(given, game)
        return given
    if not isinstance(player, str | Path | Spec):
        raise TypeError(
            f"a player is a specification, a path or a Player, not {brief(repr(player))}"
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
    """How what is no player becomes one, of what is often given in the place of one."""
    if callable(getattr(given, "predict", None)):  # as models of Stable-Baselines3 have it
        return (
            "; a MaskablePPO plays as a saved policy: armarl_training.sb3.save_policy(path, model, "
            "game), then the path"
        )
    if callable(given):
        return "; a player is an object with a `name` and choose(states, seats, draws)"
    return ""


def _call_by(player: Player, spec: Spec) -> None:
    """Give a player the name of his specification.

    Raises:
        TypeError: his name cannot be set.
    """
    try:
        player.name = label(spec)
    except AttributeError as error:
        raise TypeError(
            f"{brief(spec)}: the `name` of {type(player).__name__} cannot be set, and whoever is "
            "made by a specification is called by it; make it an attribute"
        ) from error


def _make_base(part: Part, game: Game, code: bool) -> Player:
    """The player of a specification's first part, with his habits."""
    if said := file_refusal(part):
        raise ValueError(said)
    factory = _named(_players, part.name)
    if factory is None and (path := policy_path(part.name)):
        factory = _policy_factory(path)
    if factory is None:
        factory, part = _imported(part, code)
    possible = [name for name in _HABITS if name not in inspect.signature(factory).parameters]
    habits = {name: value for name, value in part.settings if name in possible}
    own = replace(part, settings=tuple(s for s in part.settings if s[0] not in habits))
    player = _call(factory, own, possible, game)
    for name in [name for name in reversed(possible) if name in habits]:
        player = _call(_HABITS[name], Part(name, (habits[name],)), [], game, player)
    return player


def _make_around(part: Part, player: Player, game: Game) -> Player:
    # A player may know better what to put around him under a name.
    factory = _named({**_around, **getattr(player, "around", {})}, part.name)
    if factory is None:
        known = ", ".join(f"+{name}" for name in _around) or "nothing, as yet"
        raise ValueError(f"no +{brief(part.name)}: what can be put around a player is {known}")
    return _call(factory, part, [], game, player)


def _policy_factory(path: Path) -> Factory:
    def policy(game: Game, sample: bool | None = None, temperature: float | None = None) -> Player:
        from armarl.policies.saved_policy import load_policy

        return load_policy(path, game, sample=sample, temperature=temperature)

    return policy


def _imported(part: Part, code: bool) -> tuple[Factory, Part]:
    """The class or function that `module:Class` names, and the part with the arguments left."""
    name, arguments = part.name, part.arguments
    written = arguments and isinstance(arguments[0], str) and arguments[0].isidentifier()
    if not written or not all(word.isidentifier() for word in name.split(".")):
        raise ValueError(_second_colon(part) or _unknown(name))
    if not code:
        raise ValueError(
            f"{brief(part)}: a player of one's own, module:Class, is not imported here; "
            "pass him as an object, register him (armarl.register_player), or train with --code "
            "(in Python code=True)"
        )
    try:
        with no_exit(f"the module {name}"):
            factory = getattr(import_own(name), str(arguments[0]))
    except ModuleNotFoundError as error:
        known = _known()
        raise ValueError(
            f"no player {brief(part)}{did_you_mean(name, known)}: {error}; besides module:Class "
            f"there is {', '.join(known)}"
        ) from error
    except AttributeError as error:
        raise ValueError(f"no player {str(part)!r}: {error}") from error
    if not callable(factory):
        found = brief(repr(factory), 60)
        raise ValueError(f"{brief(part)} is {found}, not a class or function that makes players")
    return factory, _OwnPart(f"{name}:{arguments[0]}", arguments[1:], part.settings)


def _second_colon(part: Part) -> str | None:
    """How `module:Class:argument` is written; None of other specifications."""
    given = [*part.arguments, *(f"{key}=..." for key, _ in part.settings)]
    own, colon, argument = str(given[0]).partition(":") if given else ("", "", "")
    if not colon or not own.isidentifier():
        return None
    return (
        f"no player {part.name}:{own}:{argument}: what a class of your own takes stands behind a "
        f"comma, as in {part.name}:{own},{argument}"
    )


def _unknown(name: str) -> str:
    """What there is, in place of what there is not."""
    if Path(name).suffix == ".safetensors" or len(Path(name).parts) > 1 or _is_folder(name):
        what = f"holds no {POLICY_FILE}" if _is_folder(name) else "is no file, nor a folder"
        return f"no player {name!r}: that {what}"
    if name in game_names():
        policies = sorted((p for p in shipped_policies() if p.split("-")[0] == name), key=len)
        return (
            f"{name} is a game, no player: name who plays it, and the game by --game {name} (in "
            "Python make_game)" + (f", or a policy of it, as {policies[0]}" if policies else "")
        )
    known = _known()
    return (
        f"no player {name!r}{did_you_mean(name, known)}: there is {', '.join(known)}; or the path "
        "of a saved policy or of a run's folder; or a class of your own as module:Class"
    )


def _known() -> list[str]:
    """The names by which players can be called for."""
    return [*_players, *shipped_policies()]
