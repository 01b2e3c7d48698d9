"""Copies, in a run's folder, of the saved policies that its configuration names by path.

With the copies, these players never change during the run. An original file may be overwritten, for
example at each checkpoint of the run that trains it. It may also be deleted before this run is
resumed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

from armarl.common.files import POLICY_FILE, read_bytes, write_bytes
from armarl.players.player_specs import Part, Spec, as_spec
from armarl.players.registry import shipped_policies
from armarl.policies.paths import called, policy_path
from armarl.policies.safetensors_file import MOST_BYTES
from armarl_training.common.run_folder import RunError


def keep_policies(folder: Path, names: Iterable[str | Path]) -> None:
    """Copy the policies that player specifications name by path, except shipped policies.

    Raises:
        RunError: one of the folders in which a copy would be written is a symbolic link.
    """
    for spec in map(as_spec, names):
        path, copy = policy_path(spec.base.name), _copy_of(folder, spec)
        if path is not None and spec.base.name not in shipped_policies() and not copy.exists():
            for step in (copy.parent, *copy.parent.parents[:2]):
                if step.is_symlink():
                    raise RunError(f"{step} is a link; the run must have its own folder here")
            copy.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(copy, read_bytes(path, MOST_BYTES))


def as_kept(folder: Path, name: str | Path) -> Spec:
    """Return a player's specification, with the path of its policy's copy if there is one.

    The name of the player does not change.
    """
    spec = as_spec(name)
    copy = _copy_of(folder, spec)
    if not copy.exists():
        return spec
    return Spec(Part(str(copy), spec.base.arguments, spec.base.settings), spec.around)


def _copy_of(folder: Path, spec: Spec) -> Path:
    """Return the path of the copy of a player's policy.

    A policy is named after its folder, or after folder and file, as in `RUN/best`. The path of the
    copy ends in the same way, so the player keeps its name.
    """
    path, name = spec.base.name, called(spec.base.name)
    place = folder / "named" / f"{zlib.crc32(path.encode()):08x}"
    return place / f"{name}.safetensors" if "/" in name else place / name / POLICY_FILE
