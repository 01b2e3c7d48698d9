"""The examples of the README run, and the generated pages are what the code says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / page
    for page in (
        "README.md",
        "docs/environments.md",
        "docs/batches.md",
        "docs/adding-a-game.md",
        "docs/arena.md",
        "docs/exploitability.md",
        "docs/frameworks.md",
    )
]
EXAMPLES = re.findall(
    r"```python\n(.*?)```", "".join(page.read_text("utf-8") for page in PAGES), re.DOTALL
)


@pytest.fixture(scope="module")
def namespace() -> dict[str, object]:
    return {}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0])
@pytest.mark.xdist_group("readme")
def test_readme_example_runs(example: str, namespace: dict[str, object]) -> None:
    exec(compile(example, "README.md", "exec"), namespace)


def test_readme_has_examples() -> None:
    assert len(EXAMPLES) >= 4


def test_generated_pages_are_current() -> None:
    script = ROOT / "scripts" / "make_docs.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
