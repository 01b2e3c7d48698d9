"""The rules of Armadora: the layout of a state, and the verbs of the game.

Every function is compiled and works on one record of type `STATE`, which holds everything: the
board, the hidden hands, the options of the variant and the random generator. The numbers `ARM-n`
are those of the rules page. Sets of squares are int64 bit words (see `board`).
"""

from __future__ import annotations

import numpy as np

from armarl.armadora.actions import (
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
from armarl.armadora.board import (
    ALL_EAST,
    ALL_SITES,
    ALL_SOUTH,
    COLUMNS,
    LINE_EAST,
    LINE_SOUTH,
    LINES,
    MINE_SQUARES,
    MINES,
    SET_EAST,
    SET_SOUTH,
    SETS_AT_LINE,
    SITE_SQUARES,
    SITES,
    SQUARES,
)
from armarl.compiled import kernel
from armarl.randomness import random_below, seed

MAX_PLAYERS = 4
PALISADES = 35  # ARM-5
PILES = np.array([3, 4, 4, 5, 5, 6, 6, 7], np.uint8)  # ARM-6
ALL_GOLD = 40
# ARM-7: Warriors of value 1 to 5, by number of players.
WARRIORS = np.array(
    [[0] * 5, [0] * 5, [11, 2, 1, 1, 1], [7, 2, 1, 1, 0], [5, 1, 1, 1, 0]], np.uint8
)

# Whose turn it is, and what he may do in it.
TURN, SECOND_PALISADE, AFTER_POWER, OVER = range(4)
STAGE_NAMES = ("turn", "second palisade", "after power", "over")

# ARM-21; 0 is a player of the base game.
ORC_CHARACTER, GOBLIN_CHARACTER, ELF_CHARACTER, MAGE_CHARACTER = range(1, 5)
CHARACTER_NAMES = ("orc", "goblin", "elf", "mage")
POWERS = np.array([0, 1, 1, 2, 2], np.uint8)

# Fields of one width stand together, the widest first, so that the record has no gaps.
STATE = np.dtype(
    [
        ("rng", np.uint64),
        ("east", np.int64),  # palisades on the right side of a square
        ("south", np.int64),  # palisades below a square
        ("barred_east", np.int64),  # free lines on which ARM-12 forbids a palisade
        ("barred_south", np.int64),
        ("free", np.int64),  # squares without gold and without a Warrior
        ("face_up", np.int64),
        ("warriors", np.int64, MAX_PLAYERS),  # squares with a Warrior of each player
        ("read", np.int64, MAX_PLAYERS),  # squares which each player's Mage has looked at
        ("value", np.uint8, SQUARES),  # of the Warrior there; 0: none, or hidden from this seat
        ("arrows", np.uint8, SQUARES),
        ("reinforced", np.uint8, SQUARES),  # 1 + the player whose reinforcement lies there
        ("gold", np.uint8, MINES),
        ("piles", np.uint8, (MAX_PLAYERS, MINES)),  # ARM-19, when the game is over, by side
        ("hand", np.uint8, (MAX_PLAYERS, VALUES)),  # Warriors left, by value
        ("hand_size", np.uint8, MAX_PLAYERS),
        ("character", np.uint8, MAX_PLAYERS),
        ("powers", np.uint8, MAX_PLAYERS),
        ("reinforcements", np.uint8, MAX_PLAYERS),
        ("passed", np.uint8, MAX_PLAYERS),
        (
            "looking_at",
            np.uint8,
            MAX_PLAYERS,
        ),  # 1 + the square read since this player's last action
        ("palisades_left", np.uint8),
        ("to_move", np.uint8),
        ("stage", np.uint8),
        ("players", np.uint8),
        ("advanced", np.uint8),
        ("peek", np.uint8),
        ("spare", np.uint8, 6),  # up to a whole word: copies leave bytes outside fields to chance
    ],
    align=True,
)


# --- setup ---------------------------------------------------------------------------------------


@kernel
def start(s):
    """Deal a new game from the random generator and the options in `s` (ARM-5 to ARM-8, ARM-21)."""
    s.east = s.south = s.barred_east = s.barred_south = s.face_up = 0
    s.free = ALL_SITES
    s.value[:] = 0
    s.arrows[:] = 0
    s.reinforced[:] = 0
    s.piles[:, :] = 0
    s.palisades_left = PALISADES
    s.to_move = 0
    s.stage = TURN
    _spread_gold(s)
    for player in range(MAX_PLAYERS):
        s.warriors[player] = s.read[player] = 0
        s.passed[player] = s.looking_at[player] = s.hand_size[player] = 0
        s.character[player] = s.powers[player] = s.reinforcements[player] = 0
        for v in range(VALUES):
            s.hand[player, v] = WARRIORS[s.players, v] if player < s.players else 0
            s.hand_size[player] += s.hand[player, v]
    if s.advanced:
        _deal_characters(s)


@kernel
def _spread_gold(s):
    """ARM-6: the eight piles in random order (Fisher and Yates' shuffle)."""
    for mine in range(MINES):
        other = random_below(s, mine + 1)
        s.gold[mine] = s.gold[other]
        s.gold[other] = PILES[mine]


@kernel
def _deal_characters(s):
    """ARM-21: a different character for each player, with its powers, and one reinforcement."""
    for player in range(MAX_PLAYERS):
        other = random_below(s, player + 1)
        s.character[player] = s.character[other]
        s.character[other] = player + 1
    for player in range(MAX_PLAYERS):
        if player >= s.players:
            s.character[player] = 0
        s.powers[player] = POWERS[s.character[player]]
        s.reinforcements[player] = player < s.players


# --- sets of squares -----------------------------------------------------------------------------


@kernel
def count(squares):
    """The number of squares in a set."""
    squares -= (squares >> 1) & 0x5555555555
    squares = (squares & 0x3333333333) + ((squares >> 2) & 0x3333333333)
    squares = (squares + (squares >> 4)) & 0x0F0F0F0F0F
    squares += squares >> 8
    return (squares + (squares >> 16) + (squares >> 32)) & 0x3F


@kernel
def lowest(squares):
    """The first square of a set that is not empty."""
    return count((squares & -squares) - 1)


@kernel
def territory(s, squares):
    """ARM-4: all squares connected to `squares` through lines without a palisade."""
    east = ALL_EAST & ~s.east
    south = ALL_SOUTH & ~s.south
    while True:
        grown = squares | ((squares & east) << 1) | ((squares >> 1) & east)
        grown |= ((grown & south) << COLUMNS) | ((grown >> COLUMNS) & south)
        if grown == squares:
            return squares
        squares = grown


@kernel
def has_gold(squares, mine):
    """Whether a set of squares holds this mine."""
    return (squares >> MINE_SQUARES[mine]) & 1


@kernel
def gold_in(s, squares):
    """The gold on the mines of a set of squares."""
    gold = 0
    for mine in range(MINES):
        if has_gold(squares, mine):
            gold += s.gold[mine]
    return gold


@kernel
def all_warriors(s):
    """The squares with a Warrior of anybody."""
    return ALL_SITES & ~s.free


# --- sides ---------------------------------------------------------------------------------------


@kernel
def side_count(s):
    """ARM-9: the number of sides: players, or the two teams of four players."""
    return 2 if s.players == 4 else s.players


@kernel
def side_of(s, player):
    """ARM-9: with four players seats 0 and 2 are a team, and 1 and 3."""
    return player % side_count(s)


@kernel
def opposing_warriors(s, player):
    """The squares with a Warrior that is neither the player's nor his partner's."""
    squares = 0
    for other in range(s.players):
        if side_of(s, other) != side_of(s, player):
            squares |= s.warriors[other]
    return squares


# --- what is legal -------------------------------------------------------------------------------


@kernel
def legal(s, mask):
    """Write into `mask`, int8 of shape (actions,), 1 for what the player to move may do, else 0."""
    mask[:] = 0
    if s.stage == OVER:
        return
    _offer_palisades(s, mask, PALISADE)
    if s.stage == SECOND_PALISADE:
        mask[STOP] = 1  # ARM-13
        return
    _offer_warriors(s, mask, WARRIOR)
    if s.stage == TURN:
        mask[PASS] = 1  # ARM-14; not after a power: ARM-22
    if s.advanced:
        _offer(mask, REINFORCEMENT, _reinforceable(s, s.to_move))
        if s.stage == TURN and s.powers[s.to_move] > 0:
            _offer_power(s, mask)


@kernel
def _offer(mask, first, squares):
    """Offer the action `first + site` for every site of a set."""
    for site in range(SITES):
        mask[first + site] = (squares >> SITE_SQUARES[site]) & 1


@kernel
def _offer_warriors(s, mask, first):
    """ARM-11: one of the values he still holds, on a square without Warrior and gold."""
    for v in range(VALUES):
        if s.hand[s.to_move, v] > 0:
            _offer(mask, first + v * SITES, s.free)


@kernel
def _offer_palisades(s, mask, first):
    """ARM-12: any line without a palisade on which one leaves no territory of under 4 squares."""
    if s.palisades_left == 0:
        return
    east, south = ~(s.east | s.barred_east), ~(s.south | s.barred_south)
    for line in range(LINES):
        mask[first + line] = (LINE_EAST[line] & east) | (LINE_SOUTH[line] & south) != 0


@kernel
def _offer_power(s, mask):
    """ARM-22 to ARM-26: the power of his character."""
    character = s.character[s.to_move]
    if character == ORC_CHARACTER:
        _offer_palisades(s, mask, ORC)
    elif character == GOBLIN_CHARACTER:
        _offer_warriors(s, mask, GOBLIN)
    elif character == ELF_CHARACTER:
        _offer(mask, ELF, _in_range(s, s.to_move))
    elif character == MAGE_CHARACTER:
        _offer(mask, MAGE, opposing_warriors(s, s.to_move) & ~s.face_up & ~s.read[s.to_move])


@kernel
def _in_range(s, player):
    """ARM-26: opposing Warriors in territories with one of the player's, if not full (ARM-27)."""
    targets = 0
    remaining = s.warriors[player]
    while remaining:
        squares = territory(s, remaining & -remaining)
        remaining &= ~squares
        if squares & s.free:
            targets |= squares
    return targets & opposing_warriors(s, player)


@kernel
def _reinforceable(s, player):
    """ARM-28: own Warriors in full territories in which no reinforcement lies."""
    if s.reinforcements[player] == 0:
        return 0
    squares = 0
    remaining = s.warriors[player]
    while remaining:
        around = territory(s, remaining & -remaining)
        if not around & s.free and not _is_reinforced(s, around):
            squares |= remaining & around
        remaining &= ~around
    return squares


@kernel
def _is_reinforced(s, squares):
    """Whether a reinforcement lies in a set of squares."""
    held = squares & all_warriors(s)
    while held:
        if s.reinforced[lowest(held)]:
            return True
        held &= held - 1
    return False


@kernel
def _can_place_palisade(s):
    """Whether a palisade is left and a line may take it."""
    return s.palisades_left > 0 and (
        ALL_EAST & ~(s.east | s.barred_east) != 0 or ALL_SOUTH & ~(s.south | s.barred_south) != 0
    )


@kernel
def _can_act(s, player):
    """Whether anything but passing and powers is possible (ARM-22)."""
    return (
        (s.hand_size[player] > 0 and s.free != 0)
        or _can_place_palisade(s)
        or _reinforceable(s, player) != 0
    )


# --- playing -------------------------------------------------------------------------------------


@kernel
def apply(s, action):
    """Play a legal action of the player to move; what an illegal one does is undefined."""
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


@kernel
def _place_warrior(s, value_and_site):
    """ARM-11: a Warrior of his hand on a free square; returns the square."""
    v, square = value_and_site // SITES, SITE_SQUARES[value_and_site % SITES]
    s.hand[s.to_move, v] -= 1
    s.hand_size[s.to_move] -= 1
    s.value[square] = v + 1
    s.warriors[s.to_move] |= 1 << square
    s.free &= ~(1 << square)
    return square


@kernel
def _place_palisade(s, line):
    """ARM-12: a palisade on a line; then bar the last open line around each small set next to it.

    A palisade is forbidden exactly where it would close the last line around a connected set of at
    most three squares. Only sets beside the new palisade can have come down to one open line.
    """
    s.east |= LINE_EAST[line]
    s.south |= LINE_SOUTH[line]
    s.palisades_left -= 1
    for i in range(SETS_AT_LINE.shape[1]):
        small = SETS_AT_LINE[line, i]
        if small < 0:
            break
        east, south = SET_EAST[small] & ~s.east, SET_SOUTH[small] & ~s.south
        if east == 0 and south & (south - 1) == 0:
            s.barred_south |= south
        elif south == 0 and east & (east - 1) == 0:
            s.barred_east |= east


@kernel
def _reinforce(s, square):
    """ARM-28: put his reinforcement on an own Warrior."""
    s.reinforced[square] = s.to_move + 1
    s.reinforcements[s.to_move] -= 1


@kernel
def _use_power(s, action):
    """ARM-22: one power of his character, before the turn's own action."""
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


@kernel
def _go_on_after_palisade(s):
    """ARM-13: after the first palisade of a turn a second one, if one is possible."""
    if s.stage != SECOND_PALISADE and _can_place_palisade(s):
        s.stage = SECOND_PALISADE
    else:
        _end_turn(s)


@kernel
def _go_on_after_power(s):
    """ARM-22: after a power an action, if one is possible."""
    if _can_act(s, s.to_move):
        s.stage = AFTER_POWER
    else:
        _end_turn(s)


@kernel
def _end_turn(s):
    """ARM-8, ARM-14: on to the next player who has not passed. ARM-15: if all have, it is over."""
    s.stage = TURN
    for step in range(1, s.players + 1):
        player = (s.to_move + step) % s.players
        if not s.passed[player]:
            s.to_move = player
            return
    s.stage = OVER
    _score(s)


# --- the end -------------------------------------------------------------------------------------


@kernel
def status(s):
    """0 while the game goes on, 1 when it has ended. (2, cut short, does not occur in Armadora.)"""
    return 1 if s.stage == OVER else 0


@kernel
def to_move(s):
    """The seat that decides next."""
    return np.int64(s.to_move)


@kernel
def points(s, square):
    """ARM-30: what the Warrior on a square is worth."""
    worth = np.int64(s.value[square]) - s.arrows[square] + (s.reinforced[square] > 0)
    return max(worth, 0)


@kernel
def points_in(s, side, squares):
    """ARM-16: the points of a side in a territory."""
    total = 0
    for player in range(side, s.players, side_count(s)):
        total += player_points_in(s, player, squares)
    return total


@kernel
def player_points_in(s, player, squares):
    """The points of a player's own Warriors on a set of squares."""
    total = 0
    held = s.warriors[player] & squares
    while held:
        total += points(s, lowest(held))
        held &= held - 1
    return total


@kernel
def _tie_breaker(s, squares):
    """ARM-29: the side whose player put a reinforcement in this territory, or -1."""
    held = squares & all_warriors(s)
    while held:
        if s.reinforced[lowest(held)]:
            return side_of(s, s.reinforced[lowest(held)] - 1)
        held &= held - 1
    return -1


@kernel
def share_of(s, side, squares):
    """ARM-16 to ARM-18, ARM-29: the gold that a side takes from a territory."""
    own = points_in(s, side, squares)
    if own == 0:
        return 0
    tied = 0
    breaker = _tie_breaker(s, squares)
    breaker_tied = False
    for other in range(side_count(s)):
        theirs = points_in(s, other, squares)
        if theirs > own:
            return 0
        if theirs == own:
            tied += 1
            breaker_tied = breaker_tied or other == breaker
    if tied > 1 and breaker_tied:
        return gold_in(s, squares) if side == breaker else 0
    return gold_in(s, squares) // tied


@kernel
def _score(s):
    """ARM-19: each side's piles, one per territory, kept at the first mine of the territory."""
    s.piles[:, :] = 0
    scored = 0
    for mine in range(MINES):
        if not has_gold(scored, mine):
            squares = territory(s, 1 << MINE_SQUARES[mine])
            scored |= squares
            for side in range(side_count(s)):
                s.piles[side, mine] = share_of(s, side, squares)


@kernel
def gold_of(s, side):
    """ARM-16: all the gold of a side in a finished game."""
    gold = 0
    for mine in range(MINES):
        gold += s.piles[side, mine]
    return gold


@kernel
def _rank_key(s, side):
    """ARM-19: a number that orders sides by gold, then by their piles from largest to smallest.

    Its digits, of 6 bits, are the total and the eight piles, all of them at most 40.
    """
    key, missing = gold_of(s, side), MINES
    for size in range(ALL_GOLD, 0, -1):
        for mine in range(MINES):
            if s.piles[side, mine] == size:
                key = (key << 6) | size
                missing -= 1
    return key << (6 * missing)


@kernel
def winners(s):
    """ARM-19, ARM-20: the winning sides of a finished game, as bits of an integer."""
    best, sides = -1, 0
    for side in range(side_count(s)):
        key = _rank_key(s, side)
        if key > best:
            best, sides = key, 0
        if key == best:
            sides |= 1 << side
    return sides


WIN_REWARD, GOLD_REWARD = range(2)
REWARD_NAMES = ("win", "gold")


@kernel
def returns(s, kind, out):
    """Write each player's return of a finished game into `out`, float64 of shape (players,).

    "win": every side stakes 1 / (sides - 1), and the winners share the stakes. A sole winner gets
    +1, a loser -1 / (sides - 1), so -1 with two sides; a draw of all gives 0. "gold": a side's gold
    less the mean of the other sides', over 40. The returns of the sides add up to 0.
    """
    sides = side_count(s)
    won = winners(s)
    total = 0
    for side in range(sides):
        total += gold_of(s, side)
    for player in range(s.players):
        side = side_of(s, player)
        if kind == GOLD_REWARD:
            own = gold_of(s, side)
            out[player] = (own - (total - own) / (sides - 1)) / ALL_GOLD
        else:
            out[player] = (sides / count(won) * ((won >> side) & 1) - 1) / (sides - 1)


# --- who knows what ------------------------------------------------------------------------------


@kernel
def known_squares(s, seat):
    """ARM-31 to ARM-33: the squares whose Warrior's value a seat is shown.

    Without `peek` what the Mage reads is shown until the player acts again, and not afterwards.
    """
    squares = s.face_up
    if s.peek:
        squares |= s.warriors[seat] | s.read[seat]
    if s.looking_at[seat] > 0:
        squares |= 1 << np.int64(s.looking_at[seat] - 1)
    return squares


@kernel
def conceal(s, seat):
    """Take out of `s` what a seat is not shown: hidden values become 0, and other hands empty."""
    hidden = all_warriors(s) & ~known_squares(s, seat)
    while hidden:
        s.value[lowest(hidden)] = 0
        hidden &= hidden - 1
    for player in range(s.players):
        if player != seat:
            s.hand[player, :] = 0
    s.rng = 0


@kernel
def unseen(s, player, v, known):
    """Warriors of value v + 1 that a player had and that are not among the `known` squares."""
    n = np.int64(WARRIORS[s.players, v])
    held = s.warriors[player] & known
    while held:
        n -= s.value[lowest(held)] == v + 1
        held &= held - 1
    return n


@kernel
def determinise(s, seat, number):
    """Replace all that a seat is not shown by a random deal that agrees with what it is shown.

    Works on a concealed state as well. `number` (int64) seeds both the deal and the state's future.
    """
    seed(s, number)
    known = known_squares(s, seat)
    hidden = all_warriors(s) & ~known
    for player in range(s.players):
        if player != seat:
            for v in range(VALUES):
                s.hand[player, v] = unseen(s, player, v, known)
            _deal_hidden(s, player, s.hand[player], hidden)
    if s.warriors[seat] & hidden:
        _deal_own_hidden(s, seat, known, hidden)


@kernel
def _deal_hidden(s, player, pool, hidden):
    """Put Warriors drawn from `pool`, counts by value, on a player's hidden squares."""
    total = 0
    for v in range(VALUES):
        total += pool[v]
    for square in range(SQUARES):
        if (s.warriors[player] & hidden) >> square & 1:
            draw = random_below(s, total)
            v = 0
            while draw >= pool[v]:
                draw -= pool[v]
                v += 1
            pool[v] -= 1
            total -= 1
            s.value[square] = v + 1


@kernel
def _deal_own_hidden(s, seat, known, hidden):
    """Without `peek` the seat knows its hand, but is not shown where its other Warriors lie."""
    hand = s.hand[seat]
    for v in range(VALUES):  # the hand becomes the pool of what lies hidden, which is used up
        hand[v] = unseen(s, seat, v, known) - hand[v]
    _deal_hidden(s, seat, hand, hidden)
    for v in range(VALUES):
        hand[v] = unseen(s, seat, v, known | hidden)
