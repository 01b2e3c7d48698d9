"""Try the installed package in an empty folder: rules, information, matches, replays, a policy.

    python scripts/checks/use_installed.py            # for an environment with armarl[play]
    python scripts/checks/use_installed.py --train    # with armarl[train]: also trains a policy

Run the script with the Python of the environment to check. Nothing is imported from this
repository.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

USES = """
import sys
from importlib.resources import files
from pathlib import Path

import armarl
import gymnasium
from armarl import load_policy
from armarl.players.registry import shipped_policies

assert Path(armarl.__file__).is_relative_to(sys.prefix), armarl.__file__
configs = [path.name for path in files("armarl_training").joinpath("configs").iterdir()]
assert "armadora-quick.yaml" in configs, configs
for name in ("armadora-2p", "armada-2p"):
    assert name in shipped_policies(), shipped_policies()
env = gymnasium.make("armarl/Armadora-v0", opponents="armadora-2p")
observation, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
assert armarl.make_game("armada").attributes["chart"].places  # the data files are installed
"""
COMMANDS = (
    ("armarl", "--version"),
    ("armarl", "info", "armadora-2p"),
    ("armarl", "rules", "armadora", "ADA-24"),
    ("armarl", "evaluate", "armadora-2p", "random", "--games", "4", "--workers", "1"),
    ("armarl", "watch", "random", "random", "--seed", "1", "--record", "game.rec", "--pace", "0"),
    ("armarl", "replay", "game.rec", "--html", "replay.html"),
    ("armarl", "draw", "game.rec", "-o", "position.svg"),
    ("python", "-c", USES),
)
SMALL = ("total_decisions=8", "environments=2", "imitation.games=0", "threads=1")
TRAINING = (
    ("armarl", "train", "armadora-quick", *SMALL, "--run", "small"),
    ("armarl", "evaluate", "small/policy.safetensors", "random", "--games", "4"),
)


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command. If it fails, print its output and exit."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=clean, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[:3]} failed\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def use(programs: Path, folder: Path, train: bool) -> None:
    """Run the commands with the programs of an environment. Exit at the first failure."""
    for program, *arguments in COMMANDS + TRAINING * train:
        run(programs / program, *arguments, cwd=folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", action="store_true", help="also train a policy")
    with tempfile.TemporaryDirectory() as temporary:
        use(Path(sys.executable).parent, Path(temporary).resolve(), parser.parse_args().train)
    print("the installed package works")


if __name__ == "__main__":
    main()
