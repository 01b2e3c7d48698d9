"""The docs page of the training settings, made from the configuration's fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from armarl_training.config.learner_kinds import is_read_by_some, readers
from armarl_training.config.sections import MOST, OURS
from armarl_training.config.training_config import (
    CHANGEABLE,
    CHANGEABLE_SECTIONS,
    TrainingConfig,
    is_marked,
)

OMITTED = (MOST, 1 << 24)  # bounds that the page omits, because they only protect memory


def settings_page() -> str:
    """Return the page: all settings by section, with defaults, values and meanings."""
    changeable = ", ".join([*CHANGEABLE, *(f"{section}.*" for section in CHANGEABLE_SECTIONS)])
    lines = [
        "# Settings of a training run",
        "",
        "`scripts/docs/make_docs.py` makes this page from",
        "`training/armarl_training/config`. [training.md](training.md) explains",
        "how to use the settings. In a file they are YAML. On the command line they have the",
        "form `ppo.epochs=3`. An unknown setting or a wrong value raises an error before anything",
        "starts.",
        "",
        "The sections `td`, `critic` and `ppo` are for the learner of the same name, and `ppo` is",
        "also for `maskable_ppo`. All other learners refuse changes in these sections. Settings",
        "marked *ours* are for ArmaRL's own learners (`td`, `critic` and `ppo`). `maskable_ppo`",
        "refuses them, except `ppo.precision`, which has no effect there. Other marks, such as",
        "*ppo only*, name the learners that read a setting. All other learners refuse the setting.",
        "For a user-defined learner, `module:Class`, all settings are allowed.",
        "When you resume a run,",
        f"you may change {changeable}.",
        "",
        "## The run",
        *_table(TrainingConfig, ""),
    ]
    for name, field in TrainingConfig.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            alone = f" Only for {readers(name)}." if is_read_by_some(name) else ""
            lines += ["", f"## `{name}`", "", f"{section.__doc__}{alone}"]
            lines += _table(section, f"{name}.")
    return "\n".join(lines) + "\n"


def _table(section: type[BaseModel], prefix: str) -> list[str]:
    rows = ["", "| setting | default | values | meaning |", "| --- | --- | --- | --- |"]
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
    plain = dict(value) if isinstance(value, Mapping) else value
    return f"`{json.dumps(plain)}`"


def _meaning(setting: str, field: FieldInfo) -> str:
    """Return a setting's description, with the learners that read it if not all of them do."""
    mark = f"{readers(setting)} only: " if is_read_by_some(setting) else ""
    return (mark or ("ours: " if is_marked(field, OURS) else "")) + (field.description or "")


def _values(field: FieldInfo) -> str:
    """Return a description of a setting's allowed values."""
    bounds = [
        f"{word} {bound}"
        for kind, name, word in _BOUNDS
        for bound in (getattr(m, name) for m in field.metadata if isinstance(m, kind))
        if bound not in OMITTED
    ]
    return ", ".join([_kind(field.annotation), *bounds])


_BOUNDS = (Ge, "ge", "from"), (Gt, "gt", "above"), (Le, "le", "to"), (Lt, "lt", "below")


def _kind(annotation: Any) -> str:
    """Return the name of a type in YAML's terms."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(_kind(one) for one in arguments)
    if origin is tuple:
        return f"list of {_kind(arguments[0])}"
    if origin is Mapping:
        return "mapping"
    if hasattr(annotation, "__metadata__"):  # Annotated
        return _kind(arguments[0])
    names = {bool: "true or false", int: "whole number", float: "number", str: "text"}
    return names.get(annotation, "null")
