"""The grammar of player specifications. A specification is one line of text that names a player.

    specification = part { "+" part }              armadora-2p+search:200
    part          = name [ ":" argument { "," argument } ]
    argument      = value | key "=" value          greedy:noise=0.2    rollout:60,doubt=2

The first part names a player. The other parts name wrappers around this player. Numbers, `inf`,
`true` and `false` are parsed as numbers and bools, and everything else is text. A number that is
too large is `inf`. A name or text that contains a special character of the grammar needs double
quotes. `str(Spec.parse(text))` is the shortest form and parses to an equal specification.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from armarl.common.messages import brief

Value = bool | int | float | str

_WORDS: dict[str, Value] = {"true": True, "false": False, "inf": math.inf, "-inf": -math.inf}
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"[+-]?(\d+\.\d*|\.?\d+)(e-?\d{1,3})?", re.IGNORECASE)
_SPECIAL = re.compile(r'[+:,="\s]')
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")  # the start of a Windows path
_MOST = 4000  # maximum number of characters in a specification


@dataclass(frozen=True)
class Part:
    """A name with its arguments, such as `rollout:60,doubt=2`.

    Attributes:
        mark: the separator between the name and its arguments.
        name: the name.
        arguments: the values without keys.
        settings: the keys and values.

    Raises:
        ValueError: a name or a text contains a double quote, which the grammar cannot express.
    """

    mark: ClassVar[str] = ":"
    name: str
    arguments: tuple[Value, ...] = ()
    settings: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        for text in (self.name, *self.arguments, *dict(self.settings).values()):
            if isinstance(text, str) and '"' in text:
                raise ValueError(
                    "a name or text of a player specification must not contain a double quote, "
                    f"but {brief(repr(text), 100)} does"
                )

    def __str__(self) -> str:
        texts = [_text(value) for value in self.arguments]
        texts += [f"{key}={_text(value)}" for key, value in self.settings]
        return self.mark.join([_name(self.name), ",".join(texts)]) if texts else _name(self.name)


@dataclass(frozen=True)
class Spec:
    """A parsed player specification.

    Attributes:
        base: the part that names the player.
        around: the parts that name wrappers around the player, innermost first.

    Example:
        >>> from armarl import Spec
        >>> spec = Spec.parse("armadora-2p + search:200")
        >>> spec.base.name, spec.around[0].name, spec.around[0].arguments
        ('armadora-2p', 'search', (200,))
        >>> str(spec)
        'armadora-2p+search:200'
    """

    base: Part
    around: tuple[Part, ...] = ()

    def __str__(self) -> str:
        return "+".join(map(str, (self.base, *self.around)))

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Parse a specification.

        Args:
            text: the specification, at most 4000 characters.

        Raises:
            ValueError: the text breaks the grammar (the message says where) or is too long.
            TypeError: `text` is not a string.
        """
        if len(text) > _MOST:
            raise ValueError(
                f"a player specification may have at most {_MOST} characters, not {len(text)}"
            )
        parts = [_part(part, text) for part in _split(text.strip(), "+", text)]
        return cls(parts[0], tuple(parts[1:]))


def _part(text: str, whole: str) -> Part:
    drive = text[:2] if _DRIVE.match(text) else ""
    name, *rest = _split(text[len(drive) :], ":", whole, most=1)
    name = _plain(drive + name)
    if not name:
        raise _wrong(whole, "a name is missing")
    arguments: list[Value] = []
    settings: dict[str, Value] = {}
    for argument in _split(rest[0], ",", whole) if rest else []:
        key, *value = _split(argument, "=", whole, most=1)
        if not key or (value and not value[0]):
            raise _wrong(whole, f"{name} has an empty argument")
        if not value:
            if settings:
                raise _wrong(
                    whole, f"the argument {key} has no name: put it before all named arguments"
                )
            arguments.append(_value(key))
        elif key in settings:
            raise _wrong(whole, f"the argument {key} appears twice")
        else:
            settings[key] = _value(value[0])
    return Part(name, tuple(arguments), tuple(settings.items()))


def _split(text: str, mark: str, whole: str, most: int = -1) -> list[str]:
    """Split a text at every mark outside double quotes, at most `most` times (-1: no limit)."""
    pieces: list[str] = []
    start, quoted = 0, False
    for i, character in enumerate(text):
        quoted ^= character == '"'
        if character == mark and not quoted and len(pieces) != most:
            pieces.append(text[start:i].strip())
            start = i + 1
    if quoted:
        raise _wrong(whole, "a double quote is not closed")
    return [*pieces, text[start:].strip()]


def _value(text: str) -> Value:
    if text.startswith('"'):
        return _plain(text)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)  # inf if the number is too large
    return _plain(text)


def _plain(text: str) -> str:
    return text.replace('"', "")


def _text(value: Value) -> str:
    """Format a value for the grammar. Text that would be parsed differently gets quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value).replace("e+", "e")
    bare = value and not _SPECIAL.search(value) and _value(value) == value
    return value if bare else f'"{value}"'


def _name(name: str) -> str:
    return f'"{name}"' if _SPECIAL.search(_DRIVE.sub("", name)) else name


def _wrong(whole: str, reason: str) -> ValueError:
    return ValueError(
        f"{whole!r} is not a player specification: {reason}; examples: greedy, "
        "greedy:noise=0.2, policies/mine.safetensors:sample, armadora-2p+search:200"
    )


def as_spec(player: str | Path | Spec) -> Spec:
    """Parse a specification.

    A `Path`, or text that ends in `.safetensors`, names a file with a saved policy.

    Raises:
        ValueError: the text breaks the grammar.
    """
    if isinstance(player, Spec):
        return player
    if isinstance(player, Path) or Path(player).suffix == ".safetensors":
        return Spec(Part(str(player)))
    return Spec.parse(player)


def scripted(adviser: str) -> Spec:
    """Parse the specification of an adviser, which must be the scripted player in any style.

    No file is opened.

    Raises:
        ValueError: the specification names a player other than `greedy`.
    """
    spec = Spec.parse(adviser)
    habits = {name for name, _ in spec.base.settings} - {"style"}
    if spec.base.name != "greedy" or spec.around or habits:
        raise _other(adviser)
    return spec


def _other(adviser: str) -> ValueError:
    return ValueError(
        f"an adviser must be the scripted player, such as greedy or greedy:style=NAME, not "
        f"{adviser[:100]!r}"
    )
