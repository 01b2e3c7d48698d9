"""Making a player from his specification (see `armarl.specs`)."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, get_args, get_type_hints

from armarl.common.files import BEST_FILE, POLICY_FILE
from armarl.common.messages import brief, did_you_mean, printable
from armarl.common.user_code import import_own
from armarl.core.game import Game, check_game
from armarl.games.catalogue import game_names
from armarl.players.player_specs import Part, Spec, Value
from armarl.players.protocol import Player, check_player, check_variant, no_exit, place_of
from armarl.players.simple_players import GreedyPlayer, HumanPlayer, PatientPlayer, RandomPlayer
from armarl.players.wrappers import NoisyPlayer, OpeningPlayer

Factory = Callable[..., Player]
PlayerLike = str | Path | Spec | Player


@dataclass(frozen=True)
class _OwnPart(Part):
    """`module:Class,arguments` whose name has become `module:Class`; it is written as it was."""

    mark: ClassVar[str] = ","

    def __str__(self) -> str:
        module, _, name = self.name.partition(":")
        return str(Part(module, (name, *self.arguments), self.settings))


def _random(game: Game, patient: bool = False) -> Player:
    return PatientPlayer(game) if patient else RandomPlayer(game)


# Those given as text are imported when they are first called for.
BUILT_IN: Mapping[str, Factory | str] = {
    "random": _random,
    "greedy": GreedyPlayer,
    "human": HumanPlayer,
    "grave": "armarl.search:SearchPlayer",
    "ismcts": "armarl.search:IsmctsPlayer",
    "flat": "armarl.search:FlatPlayer",
    "rollout": "armarl.search:RolloutPlayer",
    "search": "armarl.search:best_search",
    "onnx": "armarl.policies.onnx_player:OnnxPlayer",
}
BUILT_AROUND: Mapping[str, Factory | str] = {"search": "armarl.search:PolicySearchPlayer"}
_players: dict[str, Factory | str] = dict(BUILT_IN)
_around: dict[str, Factory | str] = dict(BUILT_AROUND)
_PICKLES = (".zip", ".pt", ".pth", ".pkl")  # torch's and SB3's
# What every player takes besides his own arguments, unless one of these has the name; outermost
# first.
_HABITS: dict[str, Factory] = {"noise": NoisyPlayer, "first_random": OpeningPlayer}


def register_player(
    name: str, factory: Factory, *, around: bool = False, replace: bool = False
) -> None:
    """Give a player a name, by which he can be called for wherever players are named.

    Args:
        name: small letters, digits and hyphens.
        factory: called with the game and the arguments of the specification, it returns a `Player`:
            `factory(game, 1000, seconds=2)` for `name:1000,seconds=2`. Its annotations (bool, int,
            float, str) are what is checked. For a match with several worker processes it is a
            function or a class that can be imported.
        around: the name is put around another player, as in `greedy+name:200`; the factory is
            called with the game, that player, and the arguments.
        replace: take the place of whoever has the name.

    Raises:
        TypeError: the factory cannot be called.
        ValueError: the name is no name, or is taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"a player's name is of small letters, digits and hyphens, not {name!r}")
    if not callable(factory):
        raise TypeError(
            f"{name}: what makes a player is a class or a function, as `lambda game: player`, "
            f"not {brief(repr(factory), 60)}"
        )
    registry = _around if around else _players
    taken = registry.get(name, factory) is not factory or name in shipped_policies()
    if not replace and taken:
        raise ValueError(f"there is a player {name!r} already; replace=True takes his place")
    registry[name] = factory


def registered() -> list[tuple[str, Factory, bool]]:
    """What `register_player` was called with: for worker processes, which must call it too."""
    return [
        (name, factory, around)
        for registry, built_in, around in (
            (_players, BUILT_IN, False),
            (_around, BUILT_AROUND, True),
        )
        for name, factory in registry.items()
        if factory is not built_in.get(name) and not isinstance(factory, str)
    ]


def _named(registry: Mapping[str, Factory | str], name: str) -> Factory | None:
    """The factory of this name, if there is one."""
    found = registry.get(name)
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        factory: Factory = getattr(importlib.import_module(module), attribute)
        return factory
    return found


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


def as_spec(player: str | Path | Spec) -> Spec:
    """A specification as such; a path is that of a policy, whatever it is made of.

    Raises:
        ValueError: it breaks the grammar.
    """
    if isinstance(player, Spec):
        return player
    if isinstance(player, Path) or Path(player).suffix == ".safetensors":
        return Spec(Part(str(player)))
    return Spec.parse(player)


def label(spec: Spec) -> str:
    """The specification with what a policy is `called` for its path: what tables call a player."""
    base = spec.base
    part = Part(called(base.name), base.arguments, base.settings)
    return printable(str(Spec(part, spec.around)))


def called(name: str) -> str:
    """What a policy is called, by its path: `c1` that of the run `c1`, and `c1/best` its best one.

    Every run has a best one, so that the name of the file alone would not tell them apart. Nor is
    a file called like a player whom everybody knows: `random.safetensors`, `runs/armadora-2p`.
    """
    path = Path(name)
    if path.name == BEST_FILE and path.parent.name not in ("", ".."):
        return printable(f"{path.parent.name}/{path.stem}")
    short = without_folders(name)
    known = short in _players or shipped_policies().get(short, path) != path
    return printable(f"{short}.safetensors" if known and short != name else short)


def without_folders(name: str) -> str:
    """What is at the end of a path: a run's name, or a file's; of what is none, the name itself."""
    path = Path(name)
    if path.suffix != ".safetensors" and len(path.parts) <= 1:
        return name
    named = path.parent if path.name == POLICY_FILE and path.parent.name else path
    return named.name.removesuffix(".safetensors")


def policy_path(name: str) -> Path | None:
    """Where a saved policy lies: a path, a run's folder or a shipped one's name; None of others."""
    if name in _players:
        return None
    if name in shipped_policies():
        return shipped_policies()[name]
    path = Path(name)
    try:
        if path.is_dir():
            path /= POLICY_FILE
        return path if path.exists() else None
    except OSError:  # too long for a name, or in a folder that is closed to us
        return None


@cache
def shipped_policies() -> dict[str, Path]:
    """The policies that come with ArmaRL, by name."""
    folder = Path(__file__).parent.parent / "shipped"
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))}


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


def file_refusal(part: Part) -> str | None:
    """What to do instead of naming a file that is no saved policy, by its ending; None of others.

    A file of Python or an ONNX one is called so if it is there: `mine.py` may be a module.
    """
    path, name = Path(part.name), brief(part.name)
    if path.suffix not in (".py", ".onnx") or not _is_file(path):
        return pickle_refusal(part.name)
    if path.suffix == ".onnx":
        right = Part("onnx", (part.name, *part.arguments), part.settings)
        return f"{name} is an ONNX file: its network is a player by the name {brief(right)}"
    own = Part(path.stem, part.arguments or ("Class",), part.settings)
    return (
        f"{name} is a file of Python: a class in it is a player by the name {brief(own)}, if "
        "Python finds the module (PYTHONPATH)"
    )


def pickle_refusal(name: str) -> str | None:
    """What to do instead of naming what SB3 and torch save, which is unpickled; None of others."""
    if Path(name).suffix not in _PICKLES:
        return None
    policy = Path(name).with_suffix(".safetensors").name
    return (
        f"{name} is no policy of ours: loading such a file can run whatever is written in it. "
        "What you trust of Stable-Baselines3 becomes one by "
        f"armarl_training.sb3.save_policy({policy!r}, MaskablePPO.load({name!r}), game); "
        f"then name {policy}"
    )


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


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long for a name, or in a folder that is closed to us
        return False


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except OSError:  # too long for a name, or in a folder that is closed to us
        return False


def _call(factory: Factory, part: Part, besides: list[str], *given: Any) -> Player:
    """Call a factory with the arguments of a part, by name.

    Raises:
        ValueError: it does not take them; the message says what it takes.
        TypeError: it makes no player.
        RuntimeError: it tried to end the program.
    """
    parameters = list(inspect.signature(factory).parameters.values())[len(given) :]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    parameters = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    hints = _hints(factory)
    names = [parameter.name for parameter in parameters]
    takes = [*names, *besides]
    flags = [name for name in names if bool in (get_args(hints.get(name)) or (hints.get(name),))]
    values = dict(part.settings)
    unnamed = [name for name in names if name not in flags]
    for argument in part.arguments:
        if not (argument in flags or unnamed):
            raise ValueError(_takes(part, takes, repr(argument)))
        if argument in takes and argument not in flags:
            raise ValueError(f"{brief(part)}: {argument} lacks a value: {argument}=...")
        key = str(argument) if argument in flags else unnamed.pop(0)
        if key in values:
            raise ValueError(f"{brief(part)}: {key} is given twice")
        values[key] = True if argument in flags else argument
    for key, value in values.items():
        if key not in names and not takes_any:
            raise ValueError(_takes(part, takes, repr(key)))
        if not _fits(value, hints.get(key)):
            said = f"{brief(part)}: {key} takes {_kinds(hints[key])}, not {value!r}"
            raise ValueError(f"{said} (what there is: {', '.join(takes)})")
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in values]
    if missing:
        raise ValueError(
            f"{brief(part.name)} needs {missing[0]}: {part.name}{part.mark}{missing[0]}=..."
        )
    with no_exit(brief(part.name)):
        try:
            made = factory(*given, **values)
        except Exception as error:
            if where := place_of(error, getattr(factory, "__module__", "")):
                error.add_note(f"({brief(part.name)} was being made{where})")
            raise
    return check_player(made, f"what {brief(part.name)} makes")


def _hints(factory: Factory) -> dict[str, Any]:
    """The types of a factory's arguments, of those that can be read while the program runs."""
    target = _annotated(factory)
    hints: dict[str, Any] = {}
    for name, annotation in getattr(target, "__annotations__", {}).items():
        one = SimpleNamespace(__annotations__={name: annotation})
        with suppress(NameError):  # imported for type checkers alone
            hints |= get_type_hints(one, getattr(target, "__globals__", None))
    return hints


def _annotated(factory: Factory) -> Any:
    """Where the annotations of a factory's arguments stand."""
    target = factory.func if isinstance(factory, partial) else factory
    if inspect.isclass(target):
        return target.__init__
    return target if inspect.isroutine(target) else type(target).__call__


def _takes(part: Part, names: list[str], given: str) -> str:
    takes = ", ".join(names) or "no arguments"
    return f"{brief(part)}: {brief(part.name)} takes {takes}, not {given}"


def _fits(value: Value, hint: Any) -> bool:
    kinds = get_args(hint) or (hint,)
    if hint is None or not {bool, int, float, str}.intersection(kinds):
        return True
    return type(value) in kinds or (type(value) is int and float in kinds)


def _kinds(hint: Any) -> str:
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return " or ".join(words[kind] for kind in get_args(hint) or (hint,) if kind in words)
