"""The action table of Armadora: action ids and their notation.

Ids do not depend on the number of players. Ids of the base game keep their meaning in the advanced
rules.
"""

from __future__ import annotations

from armarl.core.action_table import ActionFamily, ActionTable
from armarl.games.armadora.board import LINE_NAMES, LINE_SQUARES, SITE_NAMES, SITE_SQUARES

VALUES = 5
_VALUES = tuple(range(1, VALUES + 1))
_ON_SITES = tuple((-1, int(square)) for square in SITE_SQUARES)

_BASE = (
    ActionFamily(
        "warrior",
        "W{} {}",
        (_VALUES, SITE_NAMES),
        "place a Warrior face down on a square with no mine and no Warrior (ARM-11)",
        public="W? {1}",
        at=_ON_SITES,
    ),
    ActionFamily("palisade", "P {}", (LINE_NAMES,), "place a palisade (ARM-12)", at=LINE_SQUARES),
    ActionFamily("stop", "stop", (), "place no second palisade (ARM-13)"),
    ActionFamily("pass", "pass", (), "pass, for the rest of the game (ARM-14)"),
)
_ADVANCED = (
    ActionFamily(
        "reinforcement", "R {}", (SITE_NAMES,), "reinforce your own Warrior (ARM-28)", at=_ON_SITES
    ),
    ActionFamily(
        "mage", "mage {}", (SITE_NAMES,), "Mage looks at a Warrior (ARM-23)", at=_ON_SITES
    ),
    ActionFamily(
        "goblin",
        "goblin W{} {}",
        (_VALUES, SITE_NAMES),
        "Goblin places a Warrior face up (ARM-24)",
        at=_ON_SITES,
    ),
    ActionFamily(
        "orc", "orc P {}", (LINE_NAMES,), "Orc places a palisade (ARM-25)", at=LINE_SQUARES
    ),
    ActionFamily("elf", "elf {}", (SITE_NAMES,), "Elf shoots an arrow (ARM-26)", at=_ON_SITES),
)

BASE_ACTIONS = ActionTable(_BASE, LINE_SQUARES)
ADVANCED_ACTIONS = ActionTable(_BASE + _ADVANCED, LINE_SQUARES)

WARRIOR = ADVANCED_ACTIONS.first["warrior"]
PALISADE = ADVANCED_ACTIONS.first["palisade"]
STOP = ADVANCED_ACTIONS.first["stop"]
PASS = ADVANCED_ACTIONS.first["pass"]
REINFORCEMENT = ADVANCED_ACTIONS.first["reinforcement"]
MAGE = ADVANCED_ACTIONS.first["mage"]
GOBLIN = ADVANCED_ACTIONS.first["goblin"]
ORC = ADVANCED_ACTIONS.first["orc"]
ELF = ADVANCED_ACTIONS.first["elf"]
