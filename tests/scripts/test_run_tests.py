"""The fast run of the tests contains tests of every folder."""

from __future__ import annotations

import run_tests
from paths import TESTS


def test_tests_of_the_fast_run_exist() -> None:
    for path in run_tests.files((*run_tests.FAST, *run_tests.PLAIN)):
        file, _, test = path.partition("::")
        assert (TESTS.parent / file).exists(), path
        assert not test or f"def {test}(" in (TESTS.parent / file).read_text("utf-8"), path


def test_the_fast_run_has_tests_of_every_folder() -> None:
    folders = {path.parent for path in TESTS.rglob("test_*.py")}
    chosen = {(TESTS / name.partition("::")[0]).parent for name in run_tests.FAST}
    assert folders - chosen == set()
