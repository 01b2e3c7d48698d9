"""Saved policies that a run names by path, kept in its folder.

Whoever they are, they stay the same: the file that was named may be written anew, as that of a run
which goes on is at each of its checkpoints, or may be gone when this one is resumed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

from armarl.common.files import POLICY_FILE, write_bytes
from armarl.players.player_specs import Part, Spec, as_spec
from armarl.players.registry import shipped_policies
from armarl.policies.paths import called, policy_path
from armarl_training.common.run_folder import RunError


def keep_policies(folder: Path, names: Iterable[str | Path]) -> None:
    """Copy the policies that specifications name by path; shipped ones stay as they are anyway.

    Raises:
        RunError: a link leads out of the folder.
    """
    for spec in map(as_spec, names):
        path, copy = policy_path(spec.base.name), _copy_of(folder, spec)
        if path is not None and spec.base.name not in shipped_policies() and not copy.exists():
            for step in (copy.parent, *copy.parent.parents[:2]):
                if step.is_symlink():
                    raise RunError(f"{step} is a link: what belongs to a run lies in its folder")
            copy.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(copy, path.read_bytes())


def as_kept(folder: Path, name: str | Path) -> Spec:
    """A player's specification, of the copy where there is one. He is called as before."""
    spec = as_spec(name)
    copy = _copy_of(folder, spec)
    if not copy.exists():
        return spec
    return Spec(Part(str(copy), spec.base.arguments, spec.base.settings), spec.around)


def _copy_of(folder: Path, spec: Spec) -> Path:
    """Where he is called as before: in a folder of the policy's name, `best` in that of its run."""
    path, name = spec.base.name, called(spec.base.name)
    place = folder / "named" / f"{zlib.crc32(path.encode()):08x}"
    return place / f"{name}.safetensors" if "/" in name else place / name / POLICY_FILE
