"""Paths and names of saved policies."""

from __future__ import annotations

from pathlib import Path

from armarl.common.files import BEST_FILE, POLICY_FILE
from armarl.common.messages import brief, printable
from armarl.players.player_specs import Part, Spec
from armarl.players.registry import is_player, shipped_policies

_PICKLES = (".zip", ".pt", ".pth", ".pkl")  # suffixes of files that torch and SB3 write


def label(spec: Spec) -> str:
    """Return a player's name for tables: its specification, with policy names instead of paths."""
    base = spec.base
    part = Part(called(base.name), base.arguments, base.settings)
    return printable(str(Spec(part, spec.around)))


def called(name: str) -> str:
    """Return a policy's name from its path: `c1` for the run `c1`, `c1/best` for its best policy.

    Every run has a best policy, so the name of a best policy includes the run. A file with the name
    of a player or of a shipped policy keeps its suffix: `random.safetensors`.
    """
    path = Path(name)
    if path.name == BEST_FILE and path.parent.name not in ("", ".."):
        return printable(f"{path.parent.name}/{path.stem}")
    short = without_folders(name)
    known = is_player(short) or shipped_policies().get(short, path) != path
    return printable(f"{short}.safetensors" if known and short != name else short)


def policy_name(path: Path) -> str:
    """Return the name of a shipped policy, given its file. For any other file, return its path."""
    return path.stem if shipped_policies().get(path.stem) == path else printable(str(path))


def without_folders(name: str) -> str:
    """Return the name of the run or file at the end of a path. Other names stay unchanged."""
    path = Path(name)
    if path.suffix != ".safetensors" and len(path.parts) <= 1:
        return name
    named = path.parent if path.name == POLICY_FILE and path.parent.name else path
    return named.name.removesuffix(".safetensors")


def policy_path(name: str) -> Path | None:
    """Return the file of a saved policy, or None if there is none.

    Args:
        name: the path of a file or of a run's folder, or the name of a shipped policy. For the name
            of a built-in or registered player, the result is None.
    """
    if is_player(name):
        return None
    if name in shipped_policies():
        return shipped_policies()[name]
    path = Path(name)
    try:
        if path.is_dir():
            path /= POLICY_FILE
        return path if path.exists() else None
    except OSError:  # the name is too long, or the folder cannot be read
        return None


def file_refusal(part: Part) -> str | None:
    """Return the error text for a file with a suffix that no policy has, or None.

    A Python or ONNX file is refused only if it exists, because `mine.py` may be a module.
    """
    path, name = Path(part.name), brief(part.name)
    if path.suffix not in (".py", ".onnx") or not _is_file(path):
        return pickle_refusal(part.name)
    if path.suffix == ".onnx":
        right = Part("onnx", (part.name, *part.arguments), part.settings)
        return f"{name} is an ONNX file, not a saved policy; write {brief(right)}"
    own = Part(path.stem, part.arguments or ("Class",), part.settings)
    return (
        f"{name} is a Python file, not a saved policy; for a class in it write {brief(own)}, and "
        "put its folder on PYTHONPATH"
    )


def pickle_refusal(name: str) -> str | None:
    """Return the error text for a pickle file (SB3, torch), or None. Pickles are never loaded."""
    if Path(name).suffix not in _PICKLES:
        return None
    policy = Path(name).with_suffix(".safetensors").name
    return (
        f"{name} is not an ArmaRL policy, and loading it can run code. If you trust it, convert it "
        f"with armarl_training.sb3.save_policy({policy!r}, MaskablePPO.load({name!r}), game), "
        f"then use {policy}"
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the name is too long, or the folder cannot be read
        return False


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except OSError:  # the name is too long, or the folder cannot be read
        return False
