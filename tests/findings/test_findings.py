"""Findings have the right form. These tests only read them, because a finding needs the network."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from paths import ROOT

FOLDER = ROOT / "findings"
SCRIPTS = sorted(FOLDER.glob("*.sh"))
HEAD = ["Guess", "Behaviour", "Version", "Seen", "Matters", "Cost"]
PIN = re.compile(r"[a-z0-9-]+(\[[a-z]+\])?==[0-9][0-9.]*")


def _program(script: str) -> str:
    return script.split("<<'EOF'\n")[1].split("\nEOF\n")[0]


def _shared(script: str) -> str:
    """Return the part that all scripts share: from `set -eu` to the program, without the pins."""
    shell = script[script.index("set -eu") : script.index("<<'EOF'")]
    return re.sub(r'pins=".*"', "", shell)


def test_the_readme_lists_each_finding_once() -> None:
    listed = re.findall(
        r"^\| \[(\w+)\]\((\w+)\.sh\) \|", (FOLDER / "README.md").read_text("utf-8"), re.M
    )
    assert [name for name, _ in listed] == [name for _, name in listed]
    assert [name for name, _ in listed] == [script.stem for script in SCRIPTS]
    assert len(SCRIPTS) >= 8


def test_all_findings_run_in_the_same_way() -> None:
    assert len({_shared(script.read_text("utf-8")) for script in SCRIPTS}) == 1


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_finding_has_its_parts_and_pins_its_packages(path: Path) -> None:
    script = path.read_text("utf-8")
    head, rest = script.split("set -eu\n")
    assert re.findall(r"^# (\w+): ", head, re.M) == HEAD
    assert path.stat().st_mode & 0o111
    (pins,) = re.findall(r'^pins="(.+)"$', rest, re.M)
    assert all(PIN.fullmatch(pin) for pin in pins.split())
    program = _program(script)
    compile(program, path.name, "exec")
    assert program.count('sys.exit("Changed: ') >= 1
    assert "armarl" not in script.lower()
    bash = shutil.which("bash")
    if bash is not None:
        subprocess.run([bash, "-n", str(path)], check=True)
