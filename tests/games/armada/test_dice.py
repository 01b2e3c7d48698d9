"""Armada's dice (ADA-7): the standard dice, and dice files that are refused."""

from __future__ import annotations

import pytest

from armarl.games.armada.dice import Dice, DiceError, load_dice


def test_ada_7_dice() -> None:
    dice = load_dice()
    assert dice == Dice((1, 1, 1, 2, -1, -1), (0, 1, 1, 2, 2, 3), (0, 1, 2, 2, 3, 4))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("combat = [1]\ngold = []\ntribes = []", "combat die must list 6 faces"),
        ("combat = [1, 1, 1, 1, 1, 1.5]\ngold = []\ntribes = []", "combat die: .* not 1.5"),
        (
            "combat = [1, 1, 1, 2, -1, -1]\ngold = [0, 1, 1, 2, 2, -3]\ntribes = []",
            "gold die: a face must be a whole number from 0 to 12, not -3",
        ),
        ("combat = [1, 1, 1, 2, -1, -1]", "the dice must be combat, gold and tribes, not combat"),
        ("combat =", "not valid TOML"),
    ],
)
def test_broken_dice_are_refused(tmp_path, text: str, message: str) -> None:
    file = tmp_path / "dice.toml"
    file.write_text(text)
    with pytest.raises(DiceError, match=message):
        load_dice(file)
