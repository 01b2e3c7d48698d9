"""Set up ArmaRL on a new machine and train a first policy: `python3 scripts/quickstart.py`.

The script sets up `.venv`, trains a small policy for two-player Armadora, saves it in `runs/quick`
and measures it against the random and the greedy player. This takes three to six minutes on two
cores. Half of this time is for the installation.
"""

from __future__ import annotations

import shutil
import sys

from setup_venv import ROOT, run, set_up

if __name__ == "__main__":
    python = set_up("train")
    folder = ROOT / "runs" / "quick"
    if folder.exists() and "--again" in sys.argv:
        shutil.rmtree(folder)
    if (folder / "policy.safetensors").exists():
        sys.exit(f"{folder} already contains a policy; --again deletes it and trains a new one")
    if folder.exists():
        run(python, "armarl.cli", "train", "--resume", "runs/quick")
    else:
        run(python, "armarl.cli", "train", "armadora-quick", "--run", "runs/quick")
    print("\nPlay against it:  .venv/bin/armarl play runs/quick/policy.safetensors")
