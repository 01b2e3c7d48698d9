"""Train the shipped policies anew: `python scripts/train_shipped_policies.py [NAME ...]`.

Each is trained stage by stage from its configurations, in `runs/`, and copied into the package with
the matches that measured it. A stage that was stopped goes on; one that is done is kept.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGES = {
    "armadora-2p": ("armadora-2p", "armadora-2p-finish"),
    "armadora-2p-varied": ("armadora-2p-varied", "armadora-2p-varied-finish"),
    "armada-2p": ("armada-2p",),
}


def train(stage: str) -> Path:
    """The policy of one stage; trains it, or the rest of it, if need be."""
    folder = Path("runs") / stage
    if not (ROOT / folder / "policy.safetensors").exists():
        started = (ROOT / folder / "config.yaml").exists()
        what = ["--resume", folder] if started else [stage, "--run", folder]
        command = [sys.executable, "-m", "armarl.cli", "train", *map(str, what)]
        subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / folder / "policy.safetensors"


def main() -> None:
    for name in sys.argv[1:] or STAGES:
        if name not in STAGES:
            sys.exit(f"no policy {name!r}; there are {', '.join(STAGES)}")
        for stage in STAGES[name]:
            policy = train(stage)
        shutil.copy(policy, ROOT / "envs" / "armarl" / "shipped" / f"{name}.safetensors")


if __name__ == "__main__":
    main()
