"""Train the shipped policies again: `python scripts/policies/train_shipped_policies.py [NAME ...]`.

Each policy is trained in `runs/` with the configuration of the same name. The policy's file, with
the results of the matches after training, is then copied into the package. A stopped run is
resumed, and a finished run is not trained again.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = (  # names of the policies and of their configurations
    *(f"armadora-{players}p{rules}" for rules in ("", "-advanced") for players in (2, 3, 4)),
    *(f"armada-{players}p{cards}" for cards in ("", "-cards") for players in (2, 3, 4)),
    "armada-3p-cards-ppo",
    "armada-3p-ppo",  # starts from armada-3p-cards-ppo
    "armada-2p-cards-ppo",  # starts from armada-3p-cards-ppo
    "armada-2p-ppo",  # starts from armada-2p-cards-ppo
    "armada-4p-ppo",  # starts from armada-3p-ppo
    "armada-4p-cards-ppo",  # starts from armada-4p-ppo
)


def train(name: str) -> Path:
    """Train the policy of a configuration, unless it is finished. Return its path."""
    folder = Path("runs") / name
    if not (ROOT / folder / "policy.safetensors").exists():
        started = (ROOT / folder / "config.yaml").exists()
        what = ["--resume", folder] if started else [name, "--run", folder]
        command = [sys.executable, "-m", "armarl.cli", "train", *map(str, what)]
        subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / folder / "policy.safetensors"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="policies (default: all)")
    names = parser.parse_args().names or NAMES
    if unknown := set(names).difference(NAMES):
        wrong = ", ".join(sorted(unknown))
        parser.error(f"unknown policies: {wrong}; choose from {', '.join(NAMES)}")
    for name in names:
        shutil.copy(train(name), ROOT / "envs" / "armarl" / "shipped" / f"{name}.safetensors")


if __name__ == "__main__":
    main()
