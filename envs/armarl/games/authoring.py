"""All names that a game in another package needs to import.

`docs/development/adding-a-game.md` explains `examples/kuhn_poker`. That game imports only from
this module.

Example:
    >>> from armarl.games.authoring import ActionFamily, ActionTable
    >>> table = ActionTable([ActionFamily("move", "{}", (("check", "bet"),), "a word")])
    >>> table.id("bet"), table.text(0)
    (1, 'check')
"""

from armarl.compiler.decorators import inlined, kernel, part
from armarl.compiler.randomness import pick, random_below, seed, uniform
from armarl.compiler.record_types import record_type
from armarl.compiler.types import Bits, Int, Mask, Observation, Real, Returns, State, States
from armarl.core.action_table import ActionFamily, ActionTable
from armarl.core.game import Game
from armarl.core.observation_blocks import Blocks, Declared, Target
from armarl.core.observation_table import Block, Board, ObservationTable
from armarl.core.pictures.lettering import width_of, write
from armarl.core.pictures.picture import Picture, Scene, Sign, Told
from armarl.core.pictures.sheet import Part, Sheet
from armarl.core.positions import Description
from armarl.core.verbs import CUT_SHORT, ENDED, ILLEGAL, PLAYING, Verbs
from armarl.games.catalogue import GameEntry

__all__ = [
    "CUT_SHORT",
    "ENDED",
    "ILLEGAL",
    "PLAYING",
    "ActionFamily",
    "ActionTable",
    "Bits",
    "Block",
    "Blocks",
    "Board",
    "Declared",
    "Description",
    "Game",
    "GameEntry",
    "Int",
    "Mask",
    "Observation",
    "ObservationTable",
    "Part",
    "Picture",
    "Real",
    "Returns",
    "Scene",
    "Sheet",
    "Sign",
    "State",
    "States",
    "Target",
    "Told",
    "Verbs",
    "inlined",
    "kernel",
    "part",
    "pick",
    "random_below",
    "record_type",
    "seed",
    "uniform",
    "width_of",
    "write",
]
