"""Shared by all tests: readable assertion failures in the checking code beside them."""

import pytest

from armarl.core import threads

pytest.register_assert_rewrite("reference")


@pytest.fixture
def small_shares(monkeypatch):
    """Split even small batches among several threads."""
    for least in ("LEAST_GAMES", "LEAST_GAMES_OF_LIGHT_LOOPS", "LEAST_SHARE"):
        monkeypatch.setattr(threads, least, 1)
