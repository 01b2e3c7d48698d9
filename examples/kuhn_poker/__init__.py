"""Kuhn poker (Kuhn 1950) as a game of ArmaRL.

ArmaRL loads this module and calls its function `make`, which passes `VERSION` and `VERBS` to
`Game`. `ENTRY` tells ArmaRL where the module is.

With two players the game's value is known: the first player loses 1/18 of a chip on average.
Returns are chips divided by the largest possible win, which is 2 chips with two players. So the
value is -1/36.

Example:
    >>> import armarl
    >>> from kuhn_poker import ENTRY
    >>> armarl.register_game(ENTRY)
    >>> game = armarl.make_game("kuhn_poker", players=3)
    >>> game.actions.texts
    ('check', 'bet', 'call', 'fold')
"""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np

from armarl.games.authoring import Game, GameEntry, States, Verbs
from kuhn_poker import knowledge, rules, state
from kuhn_poker.actions import ACTIONS
from kuhn_poker.describe import describe
from kuhn_poker.drawing import draw, picture
from kuhn_poker.evaluation import evaluate
from kuhn_poker.explain import explain
from kuhn_poker.greedy import greedy
from kuhn_poker.observation import observation_table, observe
from kuhn_poker.valid import FAULTS, valid

ENTRY = GameEntry(
    name="kuhn_poker",
    module="kuhn_poker",
    title="KuhnPoker",
    summary="poker with one card each",
    players=(2, 3, 4),
    notation="You check, bet, call or fold.",
)
VERSION = 0  # increase this number whenever the rules, the actions or the observation change
VERBS = Verbs(
    start=rules.start,
    legal=rules.legal,
    apply=rules.apply,
    status=rules.status,
    to_move=rules.to_move,
    turn_of=rules.to_move,
    observe=observe,
    returns=rules.returns,
    conceal=knowledge.conceal,
    determinise=knowledge.determinise,
    greedy=greedy,
    evaluate=evaluate,
    valid=valid,
)


def make(players: int = 2) -> Game:
    """Return Kuhn poker for 2 to 4 players. Equal arguments give the same object.

    Raises:
        ValueError: `players` is not 2, 3 or 4.
    """
    if not isinstance(players, int | np.integer) or players not in (2, 3, 4):
        raise ValueError(f"Kuhn poker is for 2, 3 or 4 players, not {players!r}")
    return _make(int(players))


@cache
def _make(players: int) -> Game:
    blank = np.zeros((), state.STATE)
    blank["players"] = players
    return Game(
        name=ENTRY.name,
        version=VERSION,
        players=players,
        options={},
        sides=tuple(range(players)),  # every seat plays for itself
        actions=ACTIONS,
        observation=observation_table(players),
        rewards=("win",),
        max_actions=2 * players - 1,  # all others check, the last player bets, all others answer
        blank=blank[()],
        faults=FAULTS,
        verbs=VERBS,
        make=make,
        _describe=describe,
        _draw=draw,
        _picture=picture,
        _explain=explain,
        _deals=deals,
    )


def deals(game: Game) -> States:
    """Return the states after all possible deals, which are equally likely."""
    orders = list(permutations(range(1, game.players + 2)))
    states = game.new_states(np.zeros(len(orders), np.int64))
    states["card"][:, : game.players + 1] = orders
    return states
