"""The rules of Armadora: setup, legal actions and turns.

Every function is compiled and works on one record of type `STATE`. The record's layout is in
`state`, the end of the game in `scoring`, and each seat's knowledge in `knowledge`.
"""

from __future__ import annotations

import numpy as np

from armarl.compiler.array_views import window
from armarl.compiler.decorators import inlined
from armarl.compiler.randomness import random_below
from armarl.compiler.types import Int, Mask, State
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
from armarl.games.armadora.board import (
    ALL_EAST,
    ALL_SOUTH,
    LINE_EAST,
    LINE_SOUTH,
    LINES,
    SETS_EAST,
    SETS_SOUTH,
    SITE_SQUARES,
    SITES,
    START_BARRED_EAST,
    START_BARRED_SOUTH,
    START_EAST,
    START_FREE,
    START_SOUTH,
)
from armarl.games.armadora.scoring import score
from armarl.games.armadora.state import (
    AFTER_POWER,
    ELF_CHARACTER,
    GOBLIN_CHARACTER,
    GOLD_MINES,
    MAGE_CHARACTER,
    MAX_PLAYERS,
    ORC_CHARACTER,
    OVER,
    PILES,
    POWERS,
    SECOND_PALISADE,
    SUPPLY,
    TURN,
    WARRIORS,
    opposing_warriors,
    reinforced_squares,
    seat_after,
    territory,
)

# --- setup ---------------------------------------------------------------------------------------


@inlined
def start(s: State) -> None:
    """Deal a new game from the random number generator and the options in `s`.

    The deal follows ARM-5 to ARM-8, ARM-21 and ARM-35.
    """
    s.free, s.face_up = START_FREE[s.board], 0
    s.east, s.south = START_EAST[s.board], START_SOUTH[s.board]
    s.barred_east, s.barred_south = START_BARRED_EAST[s.board], START_BARRED_SOUTH[s.board]
    s.value[:] = 0
    s.arrows[:] = 0
    s.reinforced[:] = 0
    s.piles[:, :] = 0
    s.palisades_left = SUPPLY[s.board]
    s.to_move = 0
    s.stage = TURN
    _spread_gold(s)
    for player in range(MAX_PLAYERS):
        s.warriors[player] = s.read[player] = 0
        s.passed[player] = s.looking_at[player] = s.hand_size[player] = 0
        s.character[player] = s.powers[player] = s.reinforcements[player] = 0
        for v in range(VALUES):
            s.hand[player, v] = WARRIORS[s.board, s.players, v] if player < s.players else 0
            s.hand_size[player] += s.hand[player, v]
    if s.advanced:
        _deal_characters(s)


@inlined
def _spread_gold(s: State) -> None:
    """ARM-6: put the piles on the mines in random order (Fisher-Yates shuffle)."""
    for mine in range(GOLD_MINES[s.board]):
        other = random_below(s, mine + 1)
        s.gold[mine] = s.gold[other]
        s.gold[other] = PILES[mine]


@inlined
def _deal_characters(s: State) -> None:
    """ARM-21: give each player a different character with its powers, and one reinforcement."""
    for player in range(MAX_PLAYERS):
        other = random_below(s, player + 1)
        s.character[player] = s.character[other]
        s.character[other] = player + 1
    for player in range(MAX_PLAYERS):
        if player >= s.players:
            s.character[player] = 0
        s.powers[player] = POWERS[s.character[player]]
        s.reinforcements[player] = player < s.players


# --- legal actions -------------------------------------------------------------------------------


@inlined
def legal(s: State, mask: Mask) -> None:
    """Write the action mask of the player to move to `mask`, int8 of shape (actions,)."""
    mask[:] = 0
    if s.stage == OVER:
        return
    _offer_palisades(s, mask, PALISADE)
    if s.stage == SECOND_PALISADE:
        mask[STOP] = 1  # ARM-13
        return
    _offer_warriors(s, mask, WARRIOR)
    if s.stage == TURN:
        mask[PASS] = 1  # ARM-14; not after a power (ARM-22)
    if s.advanced:
        _offer(mask, REINFORCEMENT, _reinforceable(s, s.to_move))
        if s.stage == TURN and s.powers[s.to_move] > 0:
            _offer_power(s, mask)


@inlined
def _offer(mask: Mask, first: Int, squares: Int) -> None:
    """Allow the action `first + site` for every site of a set."""
    family = window(mask, first, SITES)
    for site in range(family.size):
        family[site] = (squares >> SITE_SQUARES[site]) & 1


@inlined
def _offer_warriors(s: State, mask: Mask, first: Int) -> None:
    """ARM-11: allow each value still in hand, on squares without a Warrior and without gold."""
    for v in range(VALUES):
        if s.hand[s.to_move, v] > 0:
            _offer(mask, first + v * SITES, s.free)


@inlined
def _offer_palisades(s: State, mask: Mask, first: Int) -> None:
    """ARM-12: allow free lines on which a palisade leaves no territory of fewer than 4 squares."""
    if s.palisades_left == 0:
        return
    east, south = ~(s.east | s.barred_east), ~(s.south | s.barred_south)
    for line in range(LINES):
        mask[first + line] = (LINE_EAST[line] & east) | (LINE_SOUTH[line] & south) != 0


@inlined
def _offer_power(s: State, mask: Mask) -> None:
    """ARM-22 to ARM-26: allow the uses of the character's power."""
    character = s.character[s.to_move]
    if character == ORC_CHARACTER:
        _offer_palisades(s, mask, ORC)
    elif character == GOBLIN_CHARACTER:
        _offer_warriors(s, mask, GOBLIN)
    elif character == ELF_CHARACTER:
        _offer(mask, ELF, _in_range(s, s.to_move))
    elif character == MAGE_CHARACTER:
        _offer(mask, MAGE, opposing_warriors(s, s.to_move) & ~s.face_up & ~s.read[s.to_move])


@inlined
def _in_range(s: State, player: Int) -> Int:
    """ARM-26: return the opposing Warriors in territories that have a Warrior of the player.

    Full territories do not count (ARM-27).
    """
    own = territory(s, s.warriors[player])
    return opposing_warriors(s, player) & own & territory(s, s.free)


@inlined
def _reinforceable(s: State, player: Int) -> Int:
    """ARM-28: return the player's Warriors in full territories without a reinforcement."""
    if s.reinforcements[player] == 0:
        return 0
    squares = s.warriors[player] & ~territory(s, s.free)
    if squares:
        squares &= ~territory(s, reinforced_squares(s))
    return squares


@inlined
def can_place_palisade(s: State) -> Int:
    """Return whether a palisade is left and ARM-12 allows it on some line."""
    return s.palisades_left > 0 and (
        ALL_EAST & ~(s.east | s.barred_east) != 0 or ALL_SOUTH & ~(s.south | s.barred_south) != 0
    )


@inlined
def can_act(s: State, player: Int) -> Int:
    """Return whether any action other than passing and powers is possible (ARM-22)."""
    return (
        (s.hand_size[player] > 0 and s.free != 0)
        or can_place_palisade(s)
        or _reinforceable(s, player) != 0
    )


# --- playing -------------------------------------------------------------------------------------


@inlined
def apply(s: State, action: Int) -> None:
    """Play a legal action of the player to move. The effect of an illegal action is undefined."""
    s.looking_at[s.to_move] = 0
    if action < PALISADE:
        _place_warrior(s, action - WARRIOR)
        _end_turn(s)
    elif action < STOP:
        _place_palisade(s, action - PALISADE)
        _go_on_after_palisade(s)
    elif action == STOP:
        _end_turn(s)
    elif action == PASS:
        s.passed[s.to_move] = 1
        _end_turn(s)
    elif action < MAGE:
        _reinforce(s, SITE_SQUARES[action - REINFORCEMENT])
        _end_turn(s)
    else:
        _use_power(s, action)
        _go_on_after_power(s)


@inlined
def _place_warrior(s: State, value_and_site: Int) -> Int:
    """ARM-11: place a Warrior from the hand on a free square. Return the square."""
    v, square = value_and_site // SITES, SITE_SQUARES[value_and_site % SITES]
    s.hand[s.to_move, v] -= 1
    s.hand_size[s.to_move] -= 1
    s.value[square] = v + 1
    s.warriors[s.to_move] |= 1 << square
    s.free &= ~(1 << square)
    return square


@inlined
def _place_palisade(s: State, line: Int) -> None:
    """ARM-12: place a palisade. Forbid the last open line around each small set next to it.

    A palisade is forbidden exactly where it would close the last open line around a connected set
    of at most three squares. Only sets next to the new palisade can newly have one open line left.
    """
    s.east |= LINE_EAST[line]
    s.south |= LINE_SOUTH[line]
    s.palisades_left -= 1
    free_east, free_south = ~s.east, ~s.south
    barred_east, barred_south = 0, 0
    for i in range(SETS_EAST.shape[1]):  # no branches: LLVM processes eight sets at a time
        east, south = SETS_EAST[line, i] & free_east, SETS_SOUTH[line, i] & free_south
        barred_east |= east if south == 0 and east & (east - 1) == 0 else 0
        barred_south |= south if east == 0 and south & (south - 1) == 0 else 0
    s.barred_east |= barred_east
    s.barred_south |= barred_south


@inlined
def _reinforce(s: State, square: Int) -> None:
    """ARM-28: put the player's reinforcement on a Warrior of the player."""
    s.reinforced[square] = s.to_move + 1
    s.reinforcements[s.to_move] -= 1


@inlined
def _use_power(s: State, action: Int) -> None:
    """ARM-22: use a power of the player's character, before the turn's action."""
    s.powers[s.to_move] -= 1
    if action < GOBLIN:
        square = SITE_SQUARES[action - MAGE]
        s.read[s.to_move] |= 1 << square
        s.looking_at[s.to_move] = square + 1
    elif action < ORC:
        s.face_up |= 1 << _place_warrior(s, action - GOBLIN)
    elif action < ELF:
        _place_palisade(s, action - ORC)
    else:
        s.arrows[SITE_SQUARES[action - ELF]] += 1


@inlined
def _go_on_after_palisade(s: State) -> None:
    """ARM-13: after the first palisade, allow a second one if possible. Otherwise end the turn."""
    if s.stage != SECOND_PALISADE and can_place_palisade(s):
        s.stage = SECOND_PALISADE
    else:
        _end_turn(s)


@inlined
def _go_on_after_power(s: State) -> None:
    """ARM-22: after a power, continue the turn if an action is possible. Otherwise end the turn."""
    if can_act(s, s.to_move):
        s.stage = AFTER_POWER
    else:
        _end_turn(s)


@inlined
def _end_turn(s: State) -> None:
    """ARM-8, ARM-14: go to the next player who has not passed. ARM-15: end if all have passed."""
    s.stage = TURN
    for step in range(1, s.players + 1):
        player = seat_after(s, s.to_move, step)
        if not s.passed[player]:
            s.to_move = player
            return
    s.stage = OVER
    score(s)


@inlined
def status(s: State) -> Int:
    """Return 0 during the game and 1 after its end. (2, cut short, does not occur in Armadora.)"""
    return 1 if s.stage == OVER else 0


@inlined
def to_move(s: State) -> Int:
    """Return the seat to move."""
    return np.int64(s.to_move)
