"""What all tests share: readable failures from the checking code beside them."""

import pytest

from armarl.core import threads

pytest.register_assert_rewrite("reference")


@pytest.fixture
def small_shares(monkeypatch):
    """However small a batch is, several threads share it."""
    for least in ("LEAST_GAMES", "LEAST_GAMES_OF_LIGHT_LOOPS", "LEAST_SHARE"):
        monkeypatch.setattr(threads, least, 1)
