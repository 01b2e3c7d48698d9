"""What players may be asked: compiled loops trust their states, seats and draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from armarl.game import make_game
from armarl.players import make_player
from armarl.specs import Spec

GAME = make_game("armadora")
OTHER = make_game("armadora", players=4, advanced=True)
FOUR = np.arange(4)
SEATS, DRAWS = np.zeros(4, np.int64), np.full(4, 0.5)

QUESTIONS: dict[str, tuple[Any, Any, Any]] = {
    "states of another variant": (OTHER.new_states(FOUR), SEATS, DRAWS),
    "no states": (np.zeros(4), SEATS, DRAWS),
    "every second state": (GAME.new_states(np.arange(8))[::2], SEATS, DRAWS),
    "fewer seats": (GAME.new_states(FOUR), SEATS[:1], DRAWS),
    "seats that there are not": (GAME.new_states(FOUR), SEATS + 99_999, DRAWS),
    "fewer draws": (GAME.new_states(FOUR), SEATS, DRAWS[:1]),
    "draws of 1": (GAME.new_states(FOUR), SEATS, DRAWS * 2),
    "draws that are no numbers": (GAME.new_states(FOUR), SEATS, DRAWS * np.nan),
    "draws of float32": (GAME.new_states(FOUR), SEATS, DRAWS.astype(np.float32)),
}


@pytest.mark.parametrize("name", ["random", "greedy", "flat:2"])
@pytest.mark.parametrize("kind", QUESTIONS)
def test_questions_that_cannot_be_asked(name: str, kind: str) -> None:
    """They were read beyond their ends."""
    player = make_player(name, GAME)
    with pytest.raises((TypeError, ValueError), match=r"states|seats|draws"):
        player.choose(*QUESTIONS[kind])
    if hasattr(player, "method"):
        with pytest.raises((TypeError, ValueError), match=r"states|seats|draws"):
            player.think(*QUESTIONS[kind])  # type: ignore[attr-defined]


def test_a_number_that_is_too_large_to_be_one() -> None:
    """It was read as infinite, and written as a word."""
    assert Spec.parse(str(Spec.parse("x:1e999"))) == Spec.parse("x:1e999")
    with pytest.raises(ValueError, match="takes a number"):
        make_player("greedy:noise=1e999", GAME)
