"""`docs/rules/sources.md` contains all rules of the games' pages, and tests name every rule."""

from __future__ import annotations

import re

import pytest

from armarl.games.catalogue import game_entry
from paths import ROOT, TESTS

SOURCES = (ROOT / "docs" / "rules" / "sources.md").read_text("utf-8")
SECTIONS = re.split(r"^## ", SOURCES, flags=re.MULTILINE)[1:]
every_game = pytest.mark.parametrize(
    ("prefix", "section"), [("ARM", SECTIONS[0]), ("ADA", SECTIONS[1])], ids=["armadora", "armada"]
)
RULING = "**[ruling]**"


def rules(prefix: str, section: str) -> dict[str, str]:
    """Return the text of each numbered rule of a page. A table belongs to the rule above it."""
    page = game_entry(section.split()[0].lower()).page("rules.md")
    parts = re.split(rf"^- \*\*({prefix}-\d+)\*\*|^## ", page, flags=re.MULTILINE)
    return {name: text for name, text in zip(parts[1::2], parts[2::2], strict=True) if name}


def rows(section: str) -> list[tuple[str, list[str], str]]:
    """Return the rows of a table: a sentence, the rules that cover it, and `book` or `ruling`."""
    cells = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:2] == "| "]
    return [(says, numbers.split(", "), kind) for _, says, numbers, kind in cells[2:]]


def named_in_tests() -> set[str]:
    """Return the rules named in tests: `ARM-12`, `test_ada_32_natives` or `test_ada_9_to_11_…`."""
    named = set()
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text("utf-8")
        named.update(re.findall(r"(?:ARM|ADA)-\d+", text))
        for game, numbers in re.findall(r"def test_(arm|ada)((?:_\d+|_to(?=_\d))+)", text):
            for first, last in re.findall(r"(\d+)(?:_to_(\d+))?", numbers):
                named |= {f"{game.upper()}-{n}" for n in range(int(first), int(last or first) + 1)}
    return named


@every_game
def test_every_row_names_rules_that_exist(prefix: str, section: str) -> None:
    page = rules(prefix, section)
    assert len(rows(section)) > 60
    for says, numbers, kind in rows(section):
        assert set(numbers) <= page.keys(), says
        assert kind in ("book", "ruling"), says
        if kind == "ruling":
            assert any(RULING in page[number] for number in numbers), says


@every_game
def test_every_rule_is_in_the_table_or_is_a_ruling(prefix: str, section: str) -> None:
    page = rules(prefix, section)
    covered = {number for _, numbers, _ in rows(section) for number in numbers}
    without = page.keys() - covered
    for number in without:
        assert page[number].lstrip().startswith(RULING), f"{number} needs a sentence of the book"
    told = section[section.index("No sentence covers") :]
    assert set(re.findall(rf"{prefix}-\d+", told)) == without


@every_game
def test_the_numbers_of_the_rules_have_no_gaps(prefix: str, section: str) -> None:
    numbers = sorted(int(name.split("-")[1]) for name in rules(prefix, section))
    assert numbers == list(range(1, len(numbers) + 1))


@every_game
def test_every_rule_is_named_by_a_test(prefix: str, section: str) -> None:
    assert not rules(prefix, section).keys() - named_in_tests()
