"""Armadora (Christwart Conrad): walls, hidden Warriors and majorities, for 2 to 4 players."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

from armarl.common.numbers import is_whole
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.core.verbs import Verbs
from armarl.games.armadora import knowledge, rules, scoring, state
from armarl.games.armadora.actions import ADVANCED_ACTIONS, BASE_ACTIONS
from armarl.games.armadora.board import BOARD_NAMES, WHOLE
from armarl.games.armadora.drawing.picture import picture
from armarl.games.armadora.evaluation import evaluate
from armarl.games.armadora.observation import observation_table, observe
from armarl.games.armadora.rivals import progress
from armarl.games.armadora.scripted.greedy import greedy
from armarl.games.armadora.survey import divide, survey, survey_table
from armarl.games.armadora.text.describe import describe
from armarl.games.armadora.text.drawing import draw
from armarl.games.armadora.text.explain import explain
from armarl.games.armadora.text.positions import states_from
from armarl.games.armadora.text.sum_up import sum_up
from armarl.games.armadora.text.tell import tell
from armarl.games.armadora.valid import FAULTS, valid

VERSION = 0
VERBS = Verbs(
    start=rules.start,
    legal=rules.legal,
    apply=rules.apply,
    status=rules.status,
    to_move=rules.to_move,
    turn_of=rules.to_move,
    observe=observe,
    returns=scoring.returns,
    conceal=knowledge.conceal,
    determinise=knowledge.determinise,
    greedy=greedy,
    evaluate=evaluate,
    valid=valid,
    survey=survey,
    divide=divide,
    progress=progress,
)


def make(players: int = 2, advanced: bool = False, peek: bool = True, board: str = "whole") -> Game:
    """Make a variant of Armadora.

    Args:
        players: the number of players, 2 to 4. Four players play in two teams.
        advanced: True adds characters, powers and reinforcements (ARM-21 to ARM-30).
        peek: True always shows a player the values of its own placed Warriors and of the Warriors
            that its Mage has read (ARM-33).
        board: "whole", or "mini" for a game of two players without advanced rules. The mini game
            is small enough to be enumerated completely (ARM-35).

    Raises:
        ValueError: a value has the wrong type or is out of range.

    Example:
        >>> from armarl.games.armadora import make
        >>> game = make(players=3)
        >>> game.players, len(game.actions)
        (3, 229)
    """
    if not is_whole(players) or players not in (2, 3, 4):
        raise ValueError(f"Armadora is for 2, 3 or 4 players, not {players!r}")
    for name, value in (("advanced", advanced), ("peek", peek)):
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False, not {value!r}")
    if board not in BOARD_NAMES:
        raise ValueError(f"board must be {' or '.join(map(repr, BOARD_NAMES))}, not {board!r}")
    if board != BOARD_NAMES[WHOLE] and (players != 2 or advanced):
        raise ValueError(f"the {board} board is for 2 players without advanced rules (ARM-35)")
    return _make(int(players), bool(advanced), bool(peek), BOARD_NAMES.index(board))


@cache
def _make(players: int, advanced: bool, peek: bool, board: int) -> Game:
    blank = np.zeros((), state.STATE)
    blank["players"], blank["advanced"], blank["peek"] = players, advanced, peek
    blank["board"] = board
    options: dict[str, Any] = {"advanced": advanced, "peek": peek}
    # The option `board` is omitted for the whole board, because files that were written before the
    # mini board was added do not contain it.
    if board != WHOLE:
        options |= {"board": BOARD_NAMES[board]}
    return Game(
        name="armadora",
        version=VERSION,
        players=players,
        options=options,
        sides=tuple(seat % (2 if players == 4 else players) for seat in range(players)),
        actions=ADVANCED_ACTIONS if advanced else BASE_ACTIONS,
        observation=observation_table(players, advanced),
        survey=survey_table(players, advanced),
        rewards=scoring.REWARD_NAMES,
        max_actions=_longest_game(players, advanced, board),
        blank=blank[()],
        verbs=VERBS,
        make=make,
        _describe=describe,
        _draw=draw,
        _picture=picture,
        _tell=tell,
        _sum_up=sum_up,
        _states_from=states_from,
        _explain=explain,
        _deals=None if board == WHOLE else deals,
        option_fields=("players", "advanced", "peek", "board"),
        faults=FAULTS,
    )


def deals(game: Game) -> States:
    """Return a start state for each arrangement of the gold on the mini board (ARM-6, ARM-35)."""
    board = game.blank["board"]
    mines = int(state.GOLD_MINES[board])
    spread = list(permutations(state.PILES[:mines]))
    states = np.full(len(spread), game.new_states(0)[0])
    states["gold"][:, :mines] = spread
    return states


def _longest_game(players: int, advanced: bool, board: int) -> int:
    """Return the maximum number of actions in a game.

    Each palisade counts as two actions, because a `stop` may follow it. Each Warrior, power,
    reinforcement and pass counts as one.
    """
    tokens = int(state.POWERS.sum()) + players if advanced else 0
    warriors = players * int(state.WARRIORS[board, players].sum())
    return 2 * int(state.SUPPLY[board]) + warriors + tokens + players
