"""Paths and names of saved policies."""

from __future__ import annotations

from pathlib import Path

from armarl.common.files import BEST_FILE, POLICY_FILE
from armarl.common.messages import brief, printable
from armarl.players.player_specs import Part, Spec
from armarl.players.registry import _players, shipped_policies

_PICKLES = (".zip", ".pt", ".pth", ".pkl")  # torch's and SB3's


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
