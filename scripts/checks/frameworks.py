"""Try every RL library of frameworks.md in its own Python environment, and write the page's table.

    python3 scripts/checks/frameworks.py                         # all: takes hours and 10 GB
    python3 scripts/checks/frameworks.py tianshou rllib/all-seats --decisions 20000

Each library is installed together with ArmaRL into its own environment under `--folder`, because
the pinned versions of the libraries conflict. The library's program in `armarl_training.examples`
runs there. It trains policies with three seeds and measures them against random play. The results
are saved in docs/environments/frameworks.json. The page's table is made from this file.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "docs"))

from page_parts import filled  # noqa: E402

DOCS = ROOT / "docs" / "environments"
ROWS, PAGE = DOCS / "frameworks.json", DOCS / "frameworks.md"
MODES = ("one-seat", "all-seats")
WHEN = ("before", "after")  # measurements before and after training
COMMON = [
    "numpy==2.4.6",
    "numba==0.68.1",
    "safetensors==0.8.0",
    "lazy-loader==0.6",
    "torch==2.13.0",
]
NEW = ["gymnasium==1.4.0", "pettingzoo==1.27.0"]
REQUIREMENTS = {
    "sb3": [*NEW, "stable-baselines3==2.9.2", "sb3-contrib==2.9.2"],
    "cleanrl": NEW,
    "rllib": ["gymnasium==1.2.2", "pettingzoo==1.27.0", "ray[rllib]==2.60.0"],
    "torchrl": [*NEW, "torchrl==0.14.1"],
    "tianshou": [*NEW, "tianshou==2.0.1"],
    "agilerl": ["gymnasium==1.4.0", "pettingzoo==1.26.1", "agilerl==2.58.0", "peft"],
}


def environment(library: str, folder: Path) -> Path:
    """Install a library and this version of ArmaRL in an environment. Return the path of Python."""
    home = folder / library
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = hashlib.sha256("\n".join([*COMMON, *REQUIREMENTS[library]]).encode()).hexdigest()
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    stamp = home / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {library} ...", flush=True)
        venv.create(home, with_pip=True)
        subprocess.run([*pip, *COMMON, *REQUIREMENTS[library]], check=True)
        stamp.write_text(wanted)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", str(ROOT)], check=True)
    return python


def row(python: Path, library: str, mode: str, decisions: int, seed: int) -> dict[str, Any]:
    """Run a program that trains and measures a policy. Return the result from its output."""
    command = [str(python), "-m", f"armarl_training.examples.{library}", mode]
    command += ["--decisions", str(decisions), "--seed", str(seed)]
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(command, cwd=elsewhere, env=clean, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        sys.exit(f"{library} {mode} failed:\n{done.stderr[-4000:]}")
    return {"program": library, **json.loads(lines[-1])}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the results as a Markdown table. A table row combines all seeds of a program."""
    lines = [
        "| library | version | mode | decisions | illegal | wins before | wins after, by seed |",
        "| --- | --- | --- | --: | --: | --- | --- |",
    ]
    for program, mode in itertools.product(REQUIREMENTS, MODES):
        runs = [one for one in rows if (one["program"], one["mode"]) == (program, mode)]
        if not runs:
            continue
        runs.sort(key=lambda one: one["seed"])
        before, after = (", ".join(f"{100 * one[when][0]:.1f}" for one in runs) for when in WHEN)
        cells = [
            program,
            f"{runs[0]['library']} {runs[0]['version']}",
            mode,
            f"{max(one['decisions'] for one in runs):,}",
            sum(one["illegal"] for one in runs),
            f"{before} %",
            f"{after} %",
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def write_page(rows: list[dict[str, Any]]) -> None:
    """Replace the table in the page by a table of these results."""
    made = {"libraries": f"\n{table(rows)}\n"}
    PAGE.write_text(filled(PAGE.read_text("utf-8"), made), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", help="library or library/mode (default: all)")
    parser.add_argument("--decisions", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--folder", type=Path, default=ROOT / ".frameworks")
    options = parser.parse_args()
    for program in options.programs or REQUIREMENTS:
        library, _, mode = program.partition("/")
        python = environment(library, options.folder.resolve())
        for each, seed in itertools.product([mode] if mode else MODES, options.seeds):
            new = row(python, library, each, options.decisions, seed)
            rows = json.loads(ROWS.read_text("utf-8")) if ROWS.exists() else []
            key = library, each, seed
            rows = [old for old in rows if (old["program"], old["mode"], old["seed"]) != key]
            rows.append(new)
            ROWS.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
            print(seed, table([new]).splitlines()[-1], flush=True)
            write_page(rows)


if __name__ == "__main__":
    main()
