"""No byte of a server's answers to a seat reveals secrets. `check_page_leaks.py` has more games."""

from __future__ import annotations

from pathlib import Path

from page_leaks import compare
from variants import Variant, every_rich_game

DECISIONS = {"armadora": 35, "armada": 200, "kuhn_poker": 1}


@every_rich_game
def test_no_byte_depends_on_secrets(variant: Variant, tmp_path: Path) -> None:
    compared, differed = compare(variant.make(), tmp_path, DECISIONS[variant.game], seed=0)
    assert compared > 50
    assert differed > 2
