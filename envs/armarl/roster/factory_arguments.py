"""Call the factory of a player (a class or function) with the arguments of a specification."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar, Unpack, get_args, get_origin, get_type_hints

from armarl.common.messages import brief
from armarl.players.player_specs import Part, Value
from armarl.players.protocol import Player, check_player, no_exit, place_of
from armarl.players.registry import Factory


@dataclass(frozen=True)
class _OwnPart(Part):
    """A specification's part of the form `module:Class,arguments`. Its name is `module:Class`."""

    mark: ClassVar[str] = ","

    def __str__(self) -> str:
        module, _, name = self.name.partition(":")
        return str(Part(module, (name, *self.arguments), self.settings))


def _call(
    factory: Factory,
    part: Part,
    besides: Mapping[str, Factory],
    *given: Any,
    apart: Mapping[str, Value] = MappingProxyType({}),
) -> Player:
    """Call a factory with the arguments of a specification's part, as keyword arguments.

    Args:
        factory: the function or class to call.
        part: the part of the specification.
        besides: further arguments that players take, each with the wrapper that implements it.
        given: positional arguments of the call: the game, and the wrapped player if there is one.
        apart: the values of arguments in `besides`. They are checked, but not passed to `factory`.

    Raises:
        ValueError: an argument is unknown, wrong or missing. The message names the argument.
        TypeError: the factory does not take the game, or does not return a player.
        RuntimeError: the factory tried to end the program.
    """
    signature = inspect.signature(factory)
    try:
        signature.bind_partial(*given)
    except TypeError as error:
        first = ("game", "player")[: len(given)]
        function = "__init__(self, " if inspect.isclass(factory) else f"{part.name.split(':')[-1]}("
        raise TypeError(
            f"{brief(part.name)} is called with the {' and the '.join(first)}; "
            f"write def {function}{', '.join(first)})"
        ) from error
    parameters = list(signature.parameters.values())[len(given) :]
    hints = _hints(factory)
    hints |= (listed := _listed(hints))
    takes_any = not listed and any(p.kind is p.VAR_KEYWORD for p in parameters)
    parameters = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    names = [*(parameter.name for parameter in parameters), *listed]
    takes = [*names, *besides]
    flags = [name for name in names if bool in (get_args(hints.get(name)) or (hints.get(name),))]
    values = dict(part.settings)
    unnamed = [name for name in names if name not in flags]
    for argument in part.arguments:
        if not (argument in flags or unnamed):
            raise ValueError(_takes(part, takes, repr(argument)))
        if argument in takes and argument not in flags:
            raise ValueError(f"{brief(part)}: {argument} needs a value: {argument}=...")
        key = str(argument) if argument in flags else unnamed.pop(0)
        if key in values:
            raise ValueError(f"{brief(part)}: {key} is given twice")
        values[key] = True if argument in flags else argument
    for key, value in values.items():
        if key not in names and not takes_any:
            raise ValueError(_takes(part, takes, repr(key)))
        _check_kind(part, key, value, hints.get(key), takes)
    for key, value in apart.items():
        _check_kind(part, key, value, _hints(besides[key]).get(key), takes)
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
                error.add_note(f"(while making {brief(part.name)}{where})")
            raise
    return check_player(made, f"the result of {brief(part.name)}")


def _hints(factory: Factory) -> dict[str, Any]:
    """Return the types of a factory's annotated arguments, except types that cannot be resolved."""
    target = _annotated(factory)
    hints: dict[str, Any] = {}
    for name, annotation in getattr(target, "__annotations__", {}).items():
        one = SimpleNamespace(__annotations__={name: annotation})
        with suppress(NameError):  # the type is imported only for type checkers
            hints |= get_type_hints(one, getattr(target, "__globals__", None))
    return hints


def _listed(hints: dict[str, Any]) -> dict[str, Any]:
    """Return the names and types of arguments that are declared as `**settings: Unpack[Type]`."""
    types = [get_args(hint)[0] for hint in hints.values() if get_origin(hint) is Unpack]
    return {name: hint for kind in types for name, hint in get_type_hints(kind).items()}


def _annotated(factory: Factory) -> Any:
    """Return the function that carries the annotations of a factory's arguments."""
    target = factory.func if isinstance(factory, partial) else factory
    if inspect.isclass(target):
        return target.__init__
    return target if inspect.isroutine(target) else type(target).__call__


def _takes(part: Part, names: list[str], given: str) -> str:
    takes = ", ".join(names) or "no arguments"
    return f"{brief(part)}: {brief(part.name)} does not take {given}; it takes {takes}"


def _check_kind(part: Part, key: str, value: Value, hint: Any, takes: list[str]) -> None:
    """Raise a ValueError if the value of an argument does not have the annotated type."""
    if not _fits(value, hint):
        comma = "; separate them with commas" if ";" in str(value) else ""
        raise ValueError(
            f"{brief(part.name)}: {key} must be {_kinds(hint)}, not {brief(repr(value))} "
            f"(arguments: {', '.join(takes)}{comma})"
        )


def _fits(value: Value, hint: Any) -> bool:
    kinds = get_args(hint) or (hint,)
    if hint is None or not {bool, int, float, str}.intersection(kinds):
        return True
    return type(value) in kinds or (type(value) is int and float in kinds)


def _kinds(hint: Any) -> str:
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return " or ".join(words[kind] for kind in get_args(hint) or (hint,) if kind in words)
