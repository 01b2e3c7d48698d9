"""Build sdist and wheel, install them into an empty environment, and use them from another folder.

    python3 scripts/checks/check_distribution.py

The wheel is built from the sdist, so both are tested. It is installed with `[play]`, in versions
known to work together, where nothing can be imported from this repository.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from setup_venv import ROOT, set_up

USES = """
import json
from importlib.resources import files
from pathlib import Path

import armarl
import gymnasium
from armarl import load_policy
from armarl.players.registry import shipped_policies

assert Path(armarl.__file__).is_relative_to(Path.cwd()), armarl.__file__
configs = [path.name for path in files("armarl_training").joinpath("configs").iterdir()]
assert "armadora-quick.yaml" in configs, configs
for name in ("armadora-2p", "armada-2p"):
    assert name in shipped_policies(), shipped_policies()
env = gymnasium.make("armarl/Armadora-v0", opponents="armadora-2p")
observation, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
assert armarl.make_game("armada").attributes["chart"].places  # its data files are there
"""
COMMANDS = (
    ("armarl", "--version"),
    ("armarl", "info", "armadora-2p"),
    ("armarl", "rules", "armadora", "ADA-24"),
    ("armarl", "evaluate", "armadora-2p", "random", "--games", "4", "--workers", "1"),
    ("armarl", "watch", "random", "random", "--seed", "1", "--html", "replay.html"),
    ("python", "-c", USES),
)


# The example of a game outside the package, installed as its page says. It needs an entry point.
EXAMPLE = ROOT / "examples" / "kuhn_poker"
PLAYS_EXAMPLE = """
import armarl
import gymnasium

assert armarl.make_game("kuhn_poker", players=4).players == 4  # and so its ids are known
env = gymnasium.make("armarl/KuhnPoker-v0", opponents="greedy")
observation, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
"""
EXAMPLE_COMMANDS = (
    ("armarl", "evaluate", "greedy", "random", "--game", "kuhn_poker", "--games", "4"),
    ("python", "-c", PLAYS_EXAMPLE),
)


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command; if it fails, print its output and end this script."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=clean, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[:3]} failed\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def main() -> None:
    python = Path(sys.executable) if sys.prefix != sys.base_prefix else set_up("test")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        run(python, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
        sdist, wheel = sorted((folder / "dist").iterdir(), key=lambda path: path.suffix)
        venv.create(folder / "venv", with_pip=True)
        programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        pip = [programs / "python", "-m", "pip", "install", "--quiet"]
        run(*pip, "-c", ROOT / "constraints.txt", f"{wheel}[play]", cwd=folder)
        for program, *arguments in COMMANDS:
            run(programs / program, *arguments, cwd=folder)
        example = shutil.copytree(EXAMPLE, folder / "example")  # pip builds in the source folder
        run(*pip, example, cwd=folder)
        for program, *arguments in EXAMPLE_COMMANDS:
            run(programs / program, *arguments, cwd=folder)
        print(f"{sdist.name} and {wheel.name} install and run outside the repository")


if __name__ == "__main__":
    main()
