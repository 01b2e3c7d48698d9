"""A scripted player of Armadora. It looks one action ahead and takes the best action.

The module `judgement` evaluates positions. This module compares actions. Values of actions are in
gold: the gold that the player's side can expect after the action.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, Mask, Real, State, States
from armarl.games.armadora.actions import (
    ELF,
    GOBLIN,
    MAGE,
    ORC,
    PALISADE,
    PASS,
    REINFORCEMENT,
    STOP,
    VALUES,
    WARRIOR,
)
from armarl.games.armadora.board import LINES, SITE_SQUARES, SITES
from armarl.games.armadora.knowledge import known_squares
from armarl.games.armadora.rules import legal
from armarl.games.armadora.scripted.judgement import (
    JUDGEMENT,
    PATIENCE,
    UNIT,
    Reserves,
    Sides,
    expect_points,
    outlooks_of,
    points_in_hand,
    reserves_of,
    row_of,
    sides_of,
    steps_to_mines,
    worth_with_less,
    worth_with_palisade,
    worth_with_points,
)
from armarl.games.armadora.state import (
    ELF_CHARACTER,
    GOBLIN_CHARACTER,
    ORC_CHARACTER,
    SECOND_PALISADE,
    TURN,
    side_of,
)
from armarl.games.armadora.styles import BIG, STYLES, WALLS

TIE_POINTS = 0.5  # the value of winning ties, in points (ARM-29)
POWER_GOLD = 0.5  # a power must gain this much gold, because a player has few and can keep them
JITTER = 0.01  # in gold; between actions whose values differ by less, the choice is random


# --- the best action of each kind: its value, and its id or -1 -----------------------------------


@kernel
def _jitter(draw: float, action: Int) -> Real:
    """Return a small number that breaks ties between equally good actions."""
    return JITTER * ((draw + action * 0.6180339887) % 1.0)


@kernel
def best_warrior(
    t: State, views: Any, reserves: Reserves, mask: Mask, first: Int, draw: float, style: Int
) -> tuple[Any, Any]:
    """Find the best Warrior in hand and the best square for it (ARM-11, ARM-24)."""
    best, choice = -1.0, -1
    for site in range(SITES):
        if (t.free >> SITE_SQUARES[site]) & 1:
            steps = steps_to_mines(t, SITE_SQUARES[site])
            for v in range(VALUES):
                action = first + v * SITES + site
                if mask[action]:
                    n = v + 1.0
                    gold = worth_with_points(t, views, reserves, steps, n, n, 1.0, n)
                    gold += STYLES[style, BIG] * v + _jitter(draw, action)
                    if gold > best:
                        best, choice = gold, action
    return best, choice


@kernel
def best_palisade(
    t: State, sides: Sides, reserves: Reserves, mask: Mask, first: Int, draw: float
) -> tuple[Any, Any]:
    """Find the line on which a palisade gains most (ARM-12, ARM-25)."""
    best, choice = -1.0, -1
    for line in range(LINES):
        if mask[first + line]:
            gold = worth_with_palisade(t, sides, reserves, line) + _jitter(draw, first + line)
            if gold > best:
                best, choice = gold, first + line
    return best, choice


@kernel
def best_reinforcement(
    t: State, views: Any, reserves: Reserves, mask: Mask, draw: float
) -> tuple[Any, Any]:
    """Find the full territory in which a reinforcement gains most (ARM-28, ARM-29)."""
    best, choice, n = -1.0, -1, 1.0 + TIE_POINTS
    for site in range(SITES):
        action = REINFORCEMENT + site
        if mask[action]:
            steps = steps_to_mines(t, SITE_SQUARES[site])
            gold = worth_with_points(t, views, reserves, steps, n, n, 0.0, 0.0)
            gold += _jitter(draw, action)
            if gold > best:
                best, choice = gold, action
    return best, choice


@kernel
def best_arrow(
    t: State, views: Any, reserves: Reserves, sides: Sides, mask: Mask, draw: float
) -> tuple[Any, Any]:
    """Find the opposing Warrior on which an arrow gains most (ARM-26)."""
    best, choice = -1.0, -1
    rivals = sides.rival[0] | sides.rival[1] | sides.rival[2] | sides.rival[3] | sides.rival[4]
    for site in range(SITES):
        action, square = ELF + site, SITE_SQUARES[site]
        if mask[action]:
            hit = min(t.value[square] / UNIT, 1.0)
            on_rival = hit * ((rivals >> square) & 1)
            steps = steps_to_mines(t, square)
            gold = worth_with_points(t, views, reserves, steps, on_rival, hit - on_rival, 0.0, 0.0)
            gold += _jitter(draw, action)
            if gold > best:
                best, choice = gold, action
    return best, choice


@kernel
def best_reading(
    t: State, views: Any, reserves: Reserves, now: Real, mask: Mask, draw: float
) -> tuple[Any, Any]:
    """Find the hidden Warrior on whose value the expected gold depends most (ARM-23)."""
    best, choice = -1.0, -1
    for site in range(SITES):
        action = MAGE + site
        if mask[action]:
            steps = steps_to_mines(t, SITE_SQUARES[site])
            more = worth_with_points(t, views, reserves, steps, 1.0, 1.0, 0.0, 0.0)
            less = worth_with_points(t, views, reserves, steps, -1.0, -1.0, 0.0, 0.0)
            gold = now + more - less + _jitter(draw, action)
            if gold > best:
                best, choice = gold, action
    return best, choice


@kernel
def best_power(
    t: State,
    views: Any,
    reserves: Reserves,
    sides: Sides,
    now: Real,
    mask: Mask,
    draw: float,
    style: Int,
) -> tuple[Any, Any]:
    """Find the best use of the character's power (ARM-21)."""
    character = t.character[t.to_move]
    if character == ORC_CHARACTER:
        return best_palisade(t, sides, reserves, mask, ORC, draw)
    if character == GOBLIN_CHARACTER:
        return best_warrior(t, views, reserves, mask, GOBLIN, draw, style)
    if character == ELF_CHARACTER:
        return best_arrow(t, views, reserves, sides, mask, draw)
    return best_reading(t, views, reserves, now, mask, draw)


# --- the choice ----------------------------------------------------------------------------------


@kernel
def greedy(s: State, draw: float, mask: Mask, scratch: States) -> Int:
    """Choose an action for the player to move, in a state concealed for that player.

    Args:
        s: the concealed state.
        draw: the index of the style in `styles.STYLES`, plus a number in [0, 1) that breaks ties.
        mask: working memory, int8 of shape (actions,).
        scratch: working memory, an array of one record of the type of `s`.
    """
    legal(s, mask)
    style = np.int64(draw)
    scratch[0] = s
    t = scratch[0]
    me = np.int64(s.to_move)
    side = side_of(s, me)
    known = known_squares(s, me)
    expect_points(s, t, known)
    sides = sides_of(t, side, known)
    reserves = reserves_of(s, side, known)
    views = outlooks_of(t, sides)
    now = worth_with_less(t, views, reserves, 0.0)

    best, choice = best_palisade(t, sides, reserves, mask, PALISADE, draw)
    if s.stage == SECOND_PALISADE:
        return choice if best > now + JITTER else STOP
    gold, action = best_warrior(t, views, reserves, mask, WARRIOR, draw, style)
    if gold > best + STYLES[style, WALLS] - JUDGEMENT[row_of(s), PATIENCE]:
        best, choice = gold, action
    if s.advanced:
        gold, action = best_reinforcement(t, views, reserves, mask, draw)
        if gold > best:
            best, choice = gold, action
    if s.stage == TURN:
        # Passing gives up the Warriors in hand. If that costs nothing, pass to end the game sooner.
        passing = worth_with_less(t, views, reserves, points_in_hand(s, me, known))
        if passing + JITTER >= best:
            choice = PASS
        if s.advanced and s.powers[me] > 0:
            gold, action = best_power(t, views, reserves, sides, now, mask, draw, style)
            if gold > now + (JITTER if choice == PASS else POWER_GOLD):
                return action
    return choice
