"""Validation of untrusted Armadora states (from a file or another program).

`valid` accepts every state that play can reach, and every determinised state. It rejects concealed
states in which anything is hidden, because they are incomplete. Every accepted state can be played
to its end: no piece is missing or extra, numbers are in their ranges, and derived values agree with
the rules.
"""

from __future__ import annotations

import numpy as np

from armarl.compiler.bits import count, lowest
from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armadora.actions import VALUES
from armarl.games.armadora.board import (
    ALL_EAST,
    ALL_SOUTH,
    ALL_SQUARES,
    LINE_EAST,
    LINE_SOUTH,
    LINES,
    MINE_SQUARES,
    MINES,
    SETS_EAST,
    SETS_SOUTH,
    SMALLEST_TERRITORY,
    SQUARES,
    START_BARRED_EAST,
    START_BARRED_SOUTH,
    START_EAST,
    START_FREE,
    START_SOUTH,
)
from armarl.games.armadora.rules import can_act, can_place_palisade
from armarl.games.armadora.scoring import points_of, share_of
from armarl.games.armadora.state import (
    ELF_CHARACTER,
    GOBLIN_CHARACTER,
    GOLD_MINES,
    MAGE_CHARACTER,
    MAX_PLAYERS,
    OVER,
    PILES,
    POWERS,
    SECOND_PALISADE,
    SUPPLY,
    TURN,
    WARRIORS,
    all_warriors,
    has_gold,
    opposing_warriors,
    reinforced_squares,
    side_count,
    territory,
)

FAULTS = (
    "it is valid",
    "its options differ from this variant's, or unused bytes are not 0",
    "a palisade is where there is no line, or the palisades on the board and in the supply do not "
    "add up (ARM-3, ARM-5)",
    "a territory has fewer than four squares (ARM-12)",
    "the lines marked as forbidden for palisades are not those that ARM-12 forbids",
    "a Warrior's square is not a site or is taken twice, or the free squares are wrong",
    "the Warriors on the board and in the hands are not those of ARM-7",
    "the piles of gold on the mines are not those of ARM-6",
    "the base game has characters, or signs of used powers (ARM-21)",
    "the characters are not distinct, or not among the four (ARM-21)",
    "the powers that the board shows as used and the powers left do not add up (ARM-22 to ARM-26)",
    "the reinforcements do not add up, or one is in a territory that is not full or has two "
    "(ARM-28)",
    "the seat to move is not a player or has passed, or the stage is impossible (ARM-8, ARM-13)",
    "the sides' piles do not agree with the board, or are not empty before the end (ARM-19)",
)
(
    LAWFUL,
    OPTIONS,
    LINES_TAKEN,
    SMALL_TERRITORY,
    BARRED,
    SQUARES_TAKEN,
    HANDS,
    GOLD,
    BASE_GAME,
    CHARACTERS,
    TOKENS,
    REINFORCEMENTS,
    WHOSE_TURN,
    SCORE,
) = range(len(FAULTS))


@kernel
def valid(s: State, blank: State) -> Int:
    """Return the index in FAULTS of the first error in a state, or LAWFUL if there is none."""
    if not _same_options(s, blank):
        return OPTIONS
    fault = _fault_of_board(s)
    if fault != LAWFUL:
        return fault
    fault = _fault_of_tokens(s)
    if fault != LAWFUL:
        return fault
    if not _turn_is_lawful(s):
        return WHOSE_TURN
    return LAWFUL if _score_is_right(s) else SCORE


@kernel
def _fault_of_board(s: State) -> Int:
    """Return the index in FAULTS of the first error in palisades, Warriors or gold, or LAWFUL."""
    if not _palisades_add_up(s):
        return LINES_TAKEN
    if not _territories_are_large(s):
        return SMALL_TERRITORY
    if not _barred_is_right(s):
        return BARRED
    if not _squares_are_lawful(s):
        return SQUARES_TAKEN
    if not _hands_add_up(s):
        return HANDS
    return LAWFUL if _gold_is_right(s) else GOLD


@kernel
def _fault_of_tokens(s: State) -> Int:
    """Return the index in FAULTS of the first error in the advanced rules' data, or LAWFUL."""
    if not s.advanced:
        return LAWFUL if _is_base_game(s) else BASE_GAME
    if not _characters_differ(s):
        return CHARACTERS
    if not _powers_add_up(s):
        return TOKENS
    return LAWFUL if _reinforcements_add_up(s) else REINFORCEMENTS


@kernel
def _same_options(s: State, blank: State) -> Int:
    for i in range(s.spare.size):
        if s.spare[i] != 0:
            return False
    return (
        s.players == blank.players
        and s.advanced == blank.advanced
        and s.peek == blank.peek
        and s.board == blank.board
    )


# --- palisades -----------------------------------------------------------------------------------


@kernel
def _palisades_add_up(s: State) -> Int:
    if s.east & ~ALL_EAST != 0 or s.south & ~ALL_SOUTH != 0:
        return False
    if START_EAST[s.board] & ~s.east != 0 or START_SOUTH[s.board] & ~s.south != 0:
        return False
    return (
        count(_placed_east(s)) + count(_placed_south(s)) + np.int64(s.palisades_left)
        == SUPPLY[s.board]
    )


@kernel
def _placed_east(s: State) -> Int:
    """Return the palisades that players have placed on right sides of squares."""
    return s.east & ~START_EAST[s.board]


@kernel
def _placed_south(s: State) -> Int:
    """Return the palisades that players have placed below squares."""
    return s.south & ~START_SOUTH[s.board]


@kernel
def _territories_are_large(s: State) -> Int:
    squares = ALL_SQUARES
    while squares:
        found = territory(s, squares & -squares)
        if count(found) < SMALLEST_TERRITORY:
            return False
        squares &= ~found
    return True


@kernel
def _barred_is_right(s: State) -> Int:
    """ARM-12: return whether the lines marked as forbidden for palisades are right.

    The last open line around a small set is forbidden as soon as a palisade borders the set.
    """
    east, south = START_BARRED_EAST[s.board], START_BARRED_SOUTH[s.board]
    placed_east, placed_south = _placed_east(s), _placed_south(s)
    for line in range(LINES):
        if (LINE_EAST[line] & placed_east) | (LINE_SOUTH[line] & placed_south) == 0:
            continue
        for i in range(SETS_EAST.shape[1]):
            open_east, open_south = SETS_EAST[line, i] & ~s.east, SETS_SOUTH[line, i] & ~s.south
            if count(open_east) + count(open_south) == 1:
                east |= open_east
                south |= open_south
    return s.barred_east == east and s.barred_south == south


# --- Warriors and gold ---------------------------------------------------------------------------


@kernel
def _squares_are_lawful(s: State) -> Int:
    taken, sites = 0, START_FREE[s.board]
    for player in range(MAX_PLAYERS):
        squares = s.warriors[player]
        if squares & (taken | ~sites) != 0 or (player >= s.players and squares != 0):
            return False
        taken |= squares
    return s.free == sites & ~taken


@kernel
def _hands_add_up(s: State) -> Int:
    """ARM-7: return whether the Warriors add up, and only squares with a Warrior have a value."""
    for square in range(SQUARES):
        if (s.value[square] > 0) != ((all_warriors(s) >> square) & 1 == 1) or s.value[
            square
        ] > VALUES:
            return False
    for player in range(MAX_PLAYERS):
        held: Int = 0
        for v in range(VALUES):
            held += np.int64(s.hand[player, v])
            dealt = np.int64(WARRIORS[s.board, s.players, v]) if player < s.players else 0
            if np.int64(s.hand[player, v]) + _placed(s, player, v + 1) != dealt:
                return False
        if s.hand_size[player] != held:
            return False
    return True


@kernel
def _placed(s: State, player: Int, value: Int) -> Int:
    """Return the number of a player's Warriors of a value on the board."""
    n, squares = 0, s.warriors[player]
    while squares:
        n += s.value[lowest(squares)] == value
        squares &= squares - 1
    return n


@kernel
def _gold_is_right(s: State) -> Int:
    """ARM-6: return whether the mines of this board have the piles of the rules, in some order."""
    mines = GOLD_MINES[s.board]
    for mine in range(MINES):
        if mine >= mines:
            if s.gold[mine] != 0:
                return False
            continue
        here, there = 0, 0
        for other in range(mines):
            here += s.gold[other] == s.gold[mine]
            there += PILES[other] == s.gold[mine]
        if here != there:
            return False
    return True


# --- the advanced rules --------------------------------------------------------------------------


@kernel
def _is_base_game(s: State) -> Int:
    if s.face_up != 0:
        return False
    for square in range(SQUARES):
        if s.arrows[square] != 0 or s.reinforced[square] != 0:
            return False
    for player in range(MAX_PLAYERS):
        if s.read[player] != 0 or s.looking_at[player] != 0 or s.character[player] != 0:
            return False
        if s.powers[player] != 0 or s.reinforcements[player] != 0:
            return False
    return True


@kernel
def _characters_differ(s: State) -> Int:
    seen: Int = 0
    for player in range(MAX_PLAYERS):
        character = np.int64(s.character[player])
        if (character > 0) != (player < s.players) or character >= POWERS.size:
            return False
        if character > 0 and (seen >> character) & 1:
            return False
        seen |= 1 << character
    return True


@kernel
def _used_powers(s: State, character: Int) -> Int:
    """Return the powers used by the player with a character, or 0 if no player has it."""
    player = _player_with(s, character)
    return np.int64(POWERS[character]) - np.int64(s.powers[player]) if player >= 0 else 0


@kernel
def _player_with(s: State, character: Int) -> Int:
    """Return the player with a character, or -1."""
    for player in range(s.players):
        if s.character[player] == character:
            return np.int64(player)
    return -1


@kernel
def _powers_add_up(s: State) -> Int:
    """ARM-22 to ARM-26: return whether the board shows each use of a power."""
    for player in range(MAX_PLAYERS):
        if s.powers[player] > POWERS[s.character[player]]:
            return False
    return _face_up_is_right(s) and _arrows_are_right(s) and _read_is_right(s)


@kernel
def _face_up_is_right(s: State) -> Int:
    goblin = _player_with(s, GOBLIN_CHARACTER)
    allowed = s.warriors[goblin] if goblin >= 0 else 0
    return s.face_up & ~allowed == 0 and count(s.face_up) == _used_powers(s, GOBLIN_CHARACTER)


@kernel
def _arrows_are_right(s: State) -> Int:
    elf = _player_with(s, ELF_CHARACTER)
    targets = opposing_warriors(s, elf) if elf >= 0 else 0
    shot: Int = 0
    for square in range(SQUARES):
        shot += np.int64(s.arrows[square])
        if s.arrows[square] > 0 and (targets >> square) & 1 == 0:
            return False
    return shot == _used_powers(s, ELF_CHARACTER)


@kernel
def _read_is_right(s: State) -> Int:
    mage = _player_with(s, MAGE_CHARACTER)
    for player in range(MAX_PLAYERS):
        if player != mage and (s.read[player] != 0 or s.looking_at[player] != 0):
            return False
    if mage < 0:
        return True
    read, looking_at = s.read[mage], np.int64(s.looking_at[mage])
    if read & (s.face_up | ~opposing_warriors(s, mage)) != 0:
        return False
    if looking_at > SQUARES or (looking_at > 0 and (read >> (np.int64(looking_at) - 1)) & 1 == 0):
        return False
    return count(read) == _used_powers(s, MAGE_CHARACTER)


@kernel
def _reinforcements_add_up(s: State) -> Int:
    """ARM-28: return whether the reinforcements are right.

    There is one per player, placed or not. A placed reinforcement is on the player's own Warrior in
    a full territory, and no territory has two reinforcements.
    """
    for player in range(MAX_PLAYERS):
        placed = 0
        for square in range(SQUARES):
            if s.reinforced[square] == player + 1:
                placed += 1
                if (s.warriors[player] >> square) & 1 == 0:
                    return False
        if placed + np.int64(s.reinforcements[player]) != (player < s.players):
            return False
    for square in range(SQUARES):
        if s.reinforced[square] > s.players:
            return False
    reinforced = reinforced_squares(s)
    if reinforced & territory(s, s.free) != 0:
        return False
    left = reinforced
    while left:
        around = territory(s, left & -left)
        if around & reinforced & ~(left & -left) != 0:
            return False
        left &= left - 1
    return True


# --- the turn and the end ------------------------------------------------------------------------


@kernel
def _turn_is_lawful(s: State) -> Int:
    all_passed = True
    for player in range(MAX_PLAYERS):
        if s.passed[player] > (player < s.players):
            return False
        all_passed = all_passed and (s.passed[player] == 1 or player >= s.players)
    if s.to_move >= s.players or s.stage > OVER or (s.stage == OVER) != all_passed:
        return False
    if s.stage == OVER or s.stage == TURN:
        return s.stage == OVER or s.passed[s.to_move] == 0
    if s.passed[s.to_move] != 0:
        return False
    if s.stage == SECOND_PALISADE:  # ARM-13
        return s.palisades_left < SUPPLY[s.board] and can_place_palisade(s)
    used = s.powers[s.to_move] < POWERS[s.character[s.to_move]]
    return used and can_act(s, s.to_move)  # ARM-22


@kernel
def _score_is_right(s: State) -> Int:
    """ARM-19: return whether the piles are right.

    After the end, a side's gold from a territory is stored at the first mine of this territory. All
    other piles are 0.
    """
    points, scored = points_of(s), 0
    for mine in range(MINES):
        first = s.stage == OVER and not has_gold(scored, mine)
        squares = territory(s, 1 << MINE_SQUARES[mine])
        if first:
            scored |= squares
        for side in range(MAX_PLAYERS):
            share = share_of(s, points, side, squares) if first and side < side_count(s) else 0
            if s.piles[side, mine] != share:
                return False
    return True
