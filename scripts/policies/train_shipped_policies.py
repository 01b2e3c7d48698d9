"""Train the shipped policies anew: `python scripts/policies/train_shipped_policies.py [NAME ...]`.

Each is trained from the configuration of its name, in `runs/`, and copied into the package with the
matches that measured it. A run that was stopped goes on; one that is done is kept.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = (  # of the policies, and of their configurations
    *(f"armadora-{players}p{rules}" for rules in ("", "-advanced") for players in (2, 3, 4)),
    *(f"armada-{players}p{cards}" for cards in ("", "-cards") for players in (2, 3, 4)),
    "armada-3p-cards-ppo",
    "armada-3p-ppo",  # begins with that one
    "armada-2p-cards-ppo",  # likewise
    "armada-2p-ppo",  # begins with that one
    "armada-4p-ppo",  # begins with armada-3p-ppo
    "armada-4p-cards-ppo",  # begins with that one
)


def train(name: str) -> Path:
    """The policy of a configuration; trains it, or the rest of it, if need be."""
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
    parser.add_argument("names", nargs="*", metavar="NAME", help="a policy; all if left out")
    names = parser.parse_args().names or NAMES
    if unknown := set(names).difference(NAMES):
        parser.error(f"no policy {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in names:
        shutil.copy(train(name), ROOT / "envs" / "armarl" / "shipped" / f"{name}.safetensors")


if __name__ == "__main__":
    main()
