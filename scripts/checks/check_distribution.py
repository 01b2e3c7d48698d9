"""Build sdist and wheel, install the wheel in an empty environment, and use it in another folder.

    python3 scripts/checks/check_distribution.py

The wheel is built from the sdist, so both are tested. It is installed with the extra `[play]` and
tested versions of its dependencies. The new environment cannot import anything from this
repository.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from checks.use_installed import run, use
from setup_venv import ROOT, set_up

# An example of a game outside the package. It has an entry point, and is installed with pip.
EXAMPLE = ROOT / "examples" / "kuhn_poker"
PLAYS_EXAMPLE = """
import armarl
import gymnasium

assert armarl.make_game("kuhn_poker", players=4).players == 4  # this also registers its ids
env = gymnasium.make("armarl/KuhnPoker-v0", opponents="greedy")
observation, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
"""
EXAMPLE_COMMANDS = (
    ("armarl", "evaluate", "greedy", "random", "--game", "kuhn_poker", "--games", "4"),
    ("python", "-c", PLAYS_EXAMPLE),
)


def environment(folder: Path, *packages: str | Path) -> Path:
    """Make a Python environment with only these packages. Return the folder with its programs."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (programs / "python", "-m", "pip", "install", "--quiet")
    run(*pip, "-c", ROOT / "constraints.txt", *packages, cwd=folder)
    return programs


def main() -> None:
    python = Path(sys.executable) if sys.prefix != sys.base_prefix else set_up("test")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        run(python, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
        sdist, wheel = sorted((folder / "dist").iterdir(), key=lambda path: path.suffix)
        programs = environment(folder / "venv", f"{wheel}[play]")
        use(programs, folder, train=False)
        example = shutil.copytree(EXAMPLE, folder / "example")  # pip builds in the source folder
        run(programs / "python", "-m", "pip", "install", "--quiet", example, cwd=folder)
        for program, *arguments in EXAMPLE_COMMANDS:
            run(programs / program, *arguments, cwd=folder)
        print(f"{sdist.name} and {wheel.name} install and run outside the repository")


if __name__ == "__main__":
    main()
