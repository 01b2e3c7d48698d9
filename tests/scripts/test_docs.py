"""The README's examples run, and generated pages agree with the code."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from armarl.arena.policy_card import read_card
from armarl.matches.match import MatchResult
from armarl.matches.standings import Standing
from armarl_training.run.exploit import FOUND, Found, Trained, recipe_for
from keep_best_response import keep
from paths import ROOT
from policy_tables import best_responses, drawings, overview, section
from site_pages import as_on_site

PAGES = [
    ROOT / page
    for page in (
        "README.md",
        "docs/environments/environments.md",
        "docs/environments/batches.md",
        "docs/development/adding-a-game.md",
        "docs/playing/arena.md",
        "docs/playing/exploitability.md",
        "docs/environments/frameworks.md",
        "docs/training/training.md",
    )
]
EXAMPLES = [
    re.sub(r"\.learn\([\d_]+\)", ".learn(256)", text)  # a reader would train for longer
    for page in PAGES
    for text in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
]
RUN: set[str] = set()  # the examples that have run in this process


@pytest.fixture(scope="module")
def namespace() -> dict[str, object]:
    return {}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0])
@pytest.mark.xdist_group("readme")
def test_readme_example_runs(
    example: str, namespace: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the examples may write to this folder
    # Earlier examples may have run in another process. Then run them here too.
    for text in EXAMPLES[: EXAMPLES.index(example) + 1]:
        if text == example or text not in RUN:
            RUN.add(text)
            exec(compile(text, "README.md", "exec"), namespace)


def test_readme_has_examples() -> None:
    assert len(EXAMPLES) >= 4


def test_generated_pages_are_current() -> None:
    script = ROOT / "scripts" / "docs" / "make_docs.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_policy_with_a_curve_in_its_file_has_a_figure() -> None:
    card = read_card("armadora-2p")
    rows = [{"decisions": 9.0 * k, "rating": 5.0 * k, "wins/greedy": k / 9} for k in range(9)]
    learnt = dataclasses.replace(card, training=card.training._replace(curve=rows))
    ((place, drawing),) = drawings([learnt])
    assert f"](../{place.as_posix()})" in section(learnt)
    assert "against greedy" in "".join(ElementTree.fromstring(drawing).itertext())
    without = dataclasses.replace(card, training=card.training._replace(curve=[]))
    assert not list(drawings([without]))
    assert "](" not in section(without)


def test_the_table_has_only_finished_best_responses_to_shipped_policies(tmp_path: Path) -> None:
    recipe = recipe_for("armadora-2p", tmp_path)
    standing = Standing("seed-1", 1000, 601, 0, 399, 0, 0.601, 0.57, 0.631, 0.5, 0.202)
    match = MatchResult({}, 20_002, 500, 1000, 40.0, (standing, standing))
    run = Trained(
        seed=1, decisions=5_000, minutes=40, hardware={"processor": "Z80"}, versions={}, match=match
    )
    found = Found(recipe=recipe, runs=(run,), best=1, match=match)
    earlier = recipe.model_copy(update={"weights": "0" * 64})
    kept = tmp_path / "kept"
    for wrong in (found.model_copy(update={"match": None}), Found(recipe=earlier, match=match)):
        (tmp_path / FOUND).write_text(wrong.model_dump_json(), "utf-8")
        with pytest.raises(ValueError, match="no finished results for the current file"):
            keep(tmp_path, kept)
    (tmp_path / FOUND).write_text(found.model_dump_json(), "utf-8")
    assert keep(tmp_path, kept) == kept / "armadora-2p.json"
    assert "has been measured" in best_responses(tmp_path / "nowhere")
    *_, row = best_responses(kept).splitlines()
    assert row == (
        "| `armadora-2p` | 60.1 % (57.0 to 63.1) | 50.0 % | 60.1 % | 5,000 decisions, 40 minutes "
        "| td, armadora-2p | Z80 |"
    )
    (kept / "armadora-2p.json").write_text(Found(recipe=earlier, match=match).model_dump_json())
    assert "has been measured" in best_responses(kept)


def test_every_policy_s_section_is_linked() -> None:
    page = (ROOT / "docs" / "playing" / "policy-cards.md").read_text("utf-8")
    links = re.findall(r"#([\w-]+)\)", overview([read_card("armada-3p-cards")], "page.md"))
    assert links == ["armada-3p-cards"]
    assert "\n### armada-3p-cards\n" in page


def test_tests_that_the_threat_model_names_exist() -> None:
    """In its tables, the tests of a row are in the last file named in that row or above it.

    A file that is named without a folder is in `tests/hostile/`.
    """
    found, file = ROOT / "docs" / "development" / "threat-model.md", ROOT
    for row in found.read_text("utf-8").split("## Defects found and fixed")[1].splitlines():
        tests = row.split(" | ")[-1] if row.startswith("| ") else ""
        for name in re.findall(r"`([^`]*)`", tests.split("fuzzer")[0]):
            if name.endswith(".py"):
                file = ROOT / (name if "/" in name else f"tests/hostile/{name}")
                assert file.is_file(), f"there is no {file}"
            elif "_" in name:
                assert f"def test_{name}(" in file.read_text("utf-8"), f"{name} is not in {file}"


def test_the_example_s_files_have_the_lengths_that_the_page_says() -> None:
    folder = ROOT / "docs" / "development"
    page = (folder / "adding-a-game.md").read_text("utf-8")
    rows = re.findall(r"^\| (\[`.*) \| (\d+) \|$", page, re.MULTILINE)
    named = [(re.findall(r"\]\(([^)]+)\)", files), int(lines)) for files, lines in rows]
    for files, lines in named:
        found = sum(len((folder / file).read_text("utf-8").splitlines()) for file in files)
        assert found == lines, files
    folder = ROOT / "examples" / "kuhn_poker"
    assert sum(len(files) for files, _ in named) == len(list(folder.glob("*.py")))


@pytest.mark.parametrize(
    "page",
    [
        page
        for folder in ("", "docs/**/", "envs/**/")
        for page in sorted(ROOT.glob(f"{folder}*.md"))
    ],
)
def test_links_have_targets(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_python_files_that_pages_name_exist() -> None:
    folders = ("envs", "training", "scripts", "tests", "examples")
    files = [f"/{path.as_posix()}" for folder in folders for path in (ROOT / folder).rglob("*.py")]
    named = {
        name
        for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        for name in re.findall(r"`([\w/]+\.py)`", page.read_text("utf-8"))
    }
    assert len(named) > 20
    missing = {name for name in named if not any(file.endswith(f"/{name}") for file in files)}
    assert missing == {"my_module.py"}  # the reader's own file


@pytest.mark.parametrize(
    ("page", "markdown", "wanted"),
    [
        (
            "index.md",
            "[a](docs/playing/arena.md) [b](docs/training/training.md#x)",
            "[a](playing/arena.md) [b](training/training.md#x)",
        ),
        ("index.md", "![p](docs/images/armada.svg)", "![p](images/armada.svg)"),
        ("index.md", "[c](CONTRIBUTING.md) [d](#here)", "[c](contributing.md) [d](#here)"),
        (
            "playing/arena.md",
            "[r](../../envs/armarl/games/armada/rules.md)",
            "[r](../rules/armada.md)",
        ),
        (
            "rules/armada.md",
            "[s](../../../../docs/rules/sources.md)",
            "[s](sources.md)",
        ),
        (
            "rules/armadora-in-two-minutes.md",
            "![p](../../../../docs/images/armadora-over.svg)",
            "![p](../images/armadora-over.svg)",
        ),
        (
            "games/armada.md",
            "[gpu.md](../environments/gpu.md)",
            "[Games on a GPU](../environments/gpu.md)",
        ),
        ("playing/arena.md", "[home](../../README.md)", "[home](../index.md)"),
        (
            "playing/arena.md",
            "[`verbs.py`](../../envs/armarl/core/verbs.py)",
            "`envs/armarl/core/verbs.py`",
        ),
        (
            "playing/arena.md",
            "[the verbs](../../envs/armarl/core/verbs.py)",
            "the verbs (`envs/armarl/core/verbs.py`)",
        ),
        ("arena.md", "```python no-run\nx\n```", "```python\nx\n```"),
        ("arena.md", "[SemVer](https://semver.org)", "[SemVer](https://semver.org)"),
    ],
)
def test_links_are_translated_for_the_site(page: str, markdown: str, wanted: str) -> None:
    assert as_on_site(markdown, page) == wanted


def test_links_on_the_site_have_targets() -> None:
    with pytest.raises(FileNotFoundError, match=r"docs/playing/arena.md links to ../nowhere"):
        as_on_site("[x](../nowhere.md)", "playing/arena.md")
