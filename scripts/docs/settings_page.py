"""The page of a training run's settings, made from the configuration's own fields."""

from __future__ import annotations

import json
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from armarl_training.config.learner_kinds import is_read_by_some, readers
from armarl_training.config.training_config import (
    CHANGEABLE,
    CHANGEABLE_SECTIONS,
    OURS,
    TrainingConfig,
    is_marked,
)

LARGEST = 1 << 20  # a bound that guards memory alone says nothing to a reader


def settings_page() -> str:
    """All settings with defaults, values and meanings: those of a run, then section by section."""
    changeable = ", ".join([*CHANGEABLE, *(f"{section}.*" for section in CHANGEABLE_SECTIONS)])
    lines = [
        "# Settings of a training run",
        "",
        "Made from `training/armarl_training/config/training_config.py` by",
        "`scripts/docs/make_docs.py`. [training.md](training.md) tells what they are",
        "for. In a file they stand as YAML, on the command",
        "line as `ppo.epochs=3`. A setting that does not exist, or a wrong value, is refused",
        "before anything starts.",
        "",
        "`td`, `critic` and `ppo` are read by the learner of that name, `ppo` by `maskable_ppo`",
        "too, and refused where another learns. Those marked *ours* are of our learners:",
        "`maskable_ppo` refuses them, but for `ppo.precision`, which does nothing there; those",
        "marked *alone* are refused by all others. To a learner of your own, `module:Class`,",
        "nothing of these is refused. A run",
        f"that is resumed may change {changeable}.",
        "",
        "## The run",
        *_table(TrainingConfig, ""),
    ]
    for name, field in TrainingConfig.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            alone = f" Of {readers(name)} alone." if is_read_by_some(name) else ""
            lines += ["", f"## `{name}`", "", f"{section.__doc__}{alone}"]
            lines += _table(section, f"{name}.")
    return "\n".join(lines) + "\n"


def _table(section: type[BaseModel], prefix: str) -> list[str]:
    rows = ["", "| setting | default | values | what it is |", "| --- | --- | --- | --- |"]
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            continue
        setting = f"{prefix}{name}"
        cells = f"`{setting}`", _default(field), _values(field), _meaning(setting, field)
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "must be given"
    return f"`{json.dumps(value, default=list)}`"


def _meaning(setting: str, field: FieldInfo) -> str:
    """What it is, after the learners that read it, if not all do."""
    mark = f"{readers(setting)} alone: " if is_read_by_some(setting) else ""
    return (mark or ("ours: " if is_marked(field, OURS) else "")) + (field.description or "")


def _values(field: FieldInfo) -> str:
    """What a setting may be, in words."""
    bounds = [
        f"{word} {bound}"
        for kind, name, word in _BOUNDS
        for bound in (getattr(m, name) for m in field.metadata if isinstance(m, kind))
        if bound < LARGEST
    ]
    return ", ".join([_kind(field.annotation), *bounds])


_BOUNDS = (Ge, "ge", "from"), (Gt, "gt", "above"), (Le, "le", "to"), (Lt, "lt", "below")


def _kind(annotation: Any) -> str:
    """A type as a reader of YAML knows it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(_kind(one) for one in arguments)
    if origin is tuple:
        return f"list of {_kind(arguments[0])}"
    if origin is dict:
        return "mapping"
    if hasattr(annotation, "__metadata__"):  # Annotated
        return _kind(arguments[0])
    names = {bool: "true or false", int: "whole number", float: "number", str: "text"}
    return names.get(annotation, "null")
