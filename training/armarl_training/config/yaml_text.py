"""A YAML reader and writer for configurations, which is safe for untrusted files.

It has its own rules for numbers, such as 3e6.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from armarl.common.messages import brief, printable

MOST_NESTED = 32  # maximum number of nested levels
NUMBERS = {  # texts that are read as numbers
    "tag:yaml.org,2002:int": re.compile(
        r"[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*|[1-9][0-9]*[eE]\+?[0-9]{1,2})$"
    ),
    "tag:yaml.org,2002:float": re.compile(
        r"[-+]?(([0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?|[0-9]+[eE]-[0-9]+"
        r"|\.(inf|Inf|INF))$|\.(nan|NaN|NAN)$"
    ),
}


class _Loader(yaml.SafeLoader):
    """A YAML loader that refuses aliases and deep nesting, and has its own rules for numbers.

    With aliases, a few lines could expand to billions of values. With deep nesting, PyYAML would be
    slow, because it goes through all outer levels again at every level. This loader reads 3e6 as an
    integer and 2:30 as text. PyYAML's own loader reads 2:30 as the number 150.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML defines this attribute
        first: [(tag, NUMBERS.get(tag, pattern)) for tag, pattern in resolvers]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_yaml_int(self, node: Any) -> int:
        text = str(self.construct_scalar(node)).lower()
        if not NUMBERS[node.tag].match(text):  # a tag such as !!int may precede any text
            raise yaml.constructor.ConstructorError(
                None, None, f"{text[:100]!r} is not a whole number", node.start_mark
            )
        digits, power, zeros = text.partition("e")
        if power and "x" not in text:
            return int(digits + "0" * int(zeros))
        return int(super().construct_yaml_int(node))

    def fetch_flow_collection_start(self, token: Any) -> None:
        self._go_deeper()
        super().fetch_flow_collection_start(token)

    def add_indent(self, column: int) -> bool:
        self._go_deeper()
        added: bool = super().add_indent(column)
        return added

    def _go_deeper(self) -> None:
        if self.flow_level + len(self.indents) > MOST_NESTED:
            raise yaml.YAMLError(f"it is nested too deeply (more than {MOST_NESTED} levels)")

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        self._refuse_twins(node)
        return super().construct_mapping(node, deep)

    def _refuse_twins(self, node: Any) -> None:
        """Refuse a mapping that has a key twice. PyYAML would silently use the last value."""
        seen = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else []:
            if isinstance(key, yaml.ScalarNode):
                if (name := (key.tag, key.value)) in seen:
                    said = f"{key.value[:100]!r} is given twice"
                    raise yaml.constructor.ConstructorError(None, None, said, key.start_mark)
                seen.add(name)

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not allowed")
        return super().compose_node(parent, index)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


class _Dumper(yaml.SafeDumper):
    """A YAML dumper that quotes every text that `_Loader` would not read as text."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


def parsed(text: str) -> Any:
    """Parse a YAML text.

    Raises:
        ValueError: the text is not valid YAML, or it has aliases, duplicate keys or deep nesting.
    """
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:  # the error's text shows the line, with a mark below it
        raise ValueError("\n".join(map(printable, str(error).splitlines()))) from error
    except (TypeError, LookupError, AttributeError, ArithmeticError) as error:
        # PyYAML itself fails on some texts: a list as a key, `!!float ''`, `!!timestamp x`.
        raise ValueError(f"a value does not fit its tag: {brief(error)}") from error


def dumped(settings: dict[str, Any]) -> str:
    """Return settings as YAML text, from which `parsed` returns the same settings."""
    return str(yaml.dump(settings, Dumper=_Dumper, sort_keys=False))
