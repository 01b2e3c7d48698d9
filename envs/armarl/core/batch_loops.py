"""The bodies of the compiled loops that all environments run. All games share them.

A *body* is a function that does the work for game `i` of a batch. The batch is a NamedTuple of
arrays that the caller allocates. `Game.run` distributes the games over threads
(`armarl.core.threads`). On a GPU, each thread calls the body for its games. `verbs` stands for the
verbs of the game for which a body is compiled (`armarl.core.binding`).

If a batch has a field `games`, call `i` of the body works on state `games[i]` and on row `i` of the
other arrays. In scratch arrays, `rows[own(thread)]` is the row that no other thread touches. In
arrays of type `WrittenRows`, call `i` writes all of row `i` and reads nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.bits import thirty_two_bits
from armarl.compiler.randomness import draw, pick, seed, seed_chance, uniform
from armarl.compiler.types import Mask, Observation, Returns, States
from armarl.compiler.work_sharing import Body
from armarl.core.verbs import CUT_SHORT, ENDED, ILLEGAL, PLAYING, Fixed, verbs

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Chance = NDArray[np.uint64]  # (batch,) one stream of random numbers per game
WrittenRows = NDArray[Any]  # one row per game; a GPU uses its own memory layout
Scratch = States  # records of the type `Variant.scratch`

PackedMasks = NDArray[np.int32]  # (n, `packed_size`) masks with 32 actions per word
PER_WORD = 32

# Results of `play_one` in place of a seat: after the end of a game, or after an illegal action.
HAS_ENDED, WAS_CUT_SHORT, WAS_ILLEGAL = -ENDED, -CUT_SHORT, -ILLEGAL
ILLEGAL_REWARD = -1.0


def own(thread: int) -> int:
    """Return the index of a thread's own scratch row.

    Every second row stays unused, so that threads do not share cache lines.
    """
    return 2 * thread


# --- packed masks ---------------------------------------------------------------------------------


def packed_size(actions: int) -> int:
    """Return the number of 32-bit words of a packed mask."""
    return -(-actions // PER_WORD)


def pack(mask: Mask, packed: NDArray[np.int32]) -> None:
    """Pack a mask into bits: action `a` is bit `a % 32` of word `a // 32`.

    On a GPU, `pack_singly` replaces this function (see `armarl.devices.cuda_kernels`).
    """
    size = mask.size
    for word in range(size // PER_WORD):
        packed[word] = np.int32(thirty_two_bits(mask, PER_WORD * word))
    rest = size % PER_WORD
    if rest == 0:
        return
    if size > PER_WORD:  # read the last 32 actions, and shift out those in the previous word
        packed[packed.size - 1] = np.int32(
            thirty_two_bits(mask, size - PER_WORD) >> (PER_WORD - rest)
        )
    else:
        pack_singly(mask, packed)


def pack_singly(mask: Mask, packed: NDArray[np.int32]) -> None:
    """Pack a mask like `pack`, action by action."""
    for word in range(packed.size):
        first = PER_WORD * word
        bits = np.int64(0)
        for action in range(first, min(first + PER_WORD, mask.size)):
            bits |= np.int64(mask[action]) << (action - first)
        packed[word] = np.int32(bits)


def is_packed(packed: NDArray[np.int32], action: int) -> bool:
    """Return whether an action is legal in a packed mask. The action may be any integer."""
    if action < 0 or action >= PER_WORD * packed.size:
        return False
    bit: int = packed[action >> 5] >> (action & 31) & 1
    return bit != 0


# --- one game, for single environments -----------------------------------------------------------


def deal_one(states: States, i: int, number: int, reseed: bool, fixed: Fixed) -> int:
    """Start a game in `states[i]`. With `reseed`, first seed its generator with `number`.

    Returns the seat to move.
    """
    s = states[i]
    if reseed:
        seed(s, number)
    verbs.start(s, *fixed)
    return verbs.to_move(s)


def play_one(
    states: States, i: int, action: int, mask: Mask, rewards: Returns, kind: int, fixed: Fixed
) -> int:
    """Play `action` in `states[i]` if it is legal. `mask` is scratch.

    Returns the seat to move, or one of three negative numbers. After HAS_ENDED and WAS_CUT_SHORT
    `rewards`, float64 (players,), contains the returns. After WAS_ILLEGAL the state is unchanged.
    """
    s = states[i]
    verbs.legal(s, mask, *fixed)
    if action < 0 or action >= mask.size or mask[action] == 0:
        return WAS_ILLEGAL
    verbs.apply(s, action, *fixed)
    ended = verbs.status(s)
    if ended:
        verbs.returns(s, kind, rewards)
        return -ended
    return verbs.to_move(s)


def view_one(
    states: States, i: int, seat: int, observation: Observation, mask: Mask, fixed: Fixed
) -> None:
    """Write the observation and the mask of a seat in `states[i]`.

    If another seat is to move or the game is over, all entries of the mask are 0.
    """
    s = states[i]
    verbs.observe(s, seat, observation, *fixed)
    if verbs.status(s) == PLAYING and verbs.to_move(s) == seat:
        verbs.legal(s, mask, *fixed)
    else:
        mask[:] = 0


# Python calls these functions for a game with a record `fixed`. The argument `fixed` is an array
# that contains the record, because Numba would take 3 microseconds to read a tuple from Python.


def deal_with(states: States, i: int, number: int, reseed: bool, fixed: States) -> int:
    """Call `deal_one` with the record that the array `fixed` contains."""
    return deal_one(states, i, number, reseed, (fixed[0],))


def play_with(
    states: States, i: int, action: int, mask: Mask, rewards: Returns, kind: int, fixed: States
) -> int:
    """Call `play_one` with the record that the array `fixed` contains."""
    return play_one(states, i, action, mask, rewards, kind, (fixed[0],))


def view_with(
    states: States, i: int, seat: int, observation: Observation, mask: Mask, fixed: States
) -> None:
    """Call `view_one` with the record that the array `fixed` contains."""
    view_one(states, i, seat, observation, mask, (fixed[0],))


# --- many games: the verbs one by one ------------------------------------------------------------


class Deals(NamedTuple):
    """New games from seeds."""

    states: States
    games: Int64s  # (n,) indices of states
    seeds: Int64s  # (n,)


def deal(batch: Deals, i: int, thread: int, fixed: Fixed) -> None:
    """Start a new game from its seed."""
    s = batch.states[batch.games[i]]
    seed(s, batch.seeds[i])
    verbs.start(s, *fixed)


class Starts(NamedTuple):
    """New games whose random number generators continue."""

    states: States
    games: Int64s  # (n,)


def start(batch: Starts, i: int, thread: int, fixed: Fixed) -> None:
    """Start a new game from the state's own generator."""
    verbs.start(batch.states[batch.games[i]], *fixed)


class Actions(NamedTuple):
    """Legal actions to play."""

    states: States
    games: Int64s  # (n,)
    actions: Int64s  # (n,)


def apply(batch: Actions, i: int, thread: int, fixed: Fixed) -> None:
    """Play a legal action."""
    verbs.apply(batch.states[batch.games[i]], batch.actions[i], *fixed)


class Judgements(NamedTuple):
    """Actions to check before any of them is played."""

    states: States
    games: Int64s  # (n,)
    actions: Int64s  # (n,) any numbers
    masks: Int8s  # (2 * threads, actions) scratch
    allowed: Int8s  # (n,) written: 1 for a legal action, else 0


def judge(batch: Judgements, i: int, thread: int, fixed: Fixed) -> None:
    """Check whether an action is legal."""
    mask, action = batch.masks[own(thread)], batch.actions[i]
    verbs.legal(batch.states[batch.games[i]], mask, *fixed)
    batch.allowed[i] = 0
    if 0 <= action < mask.size:
        batch.allowed[i] = mask[action]


class Inspections(NamedTuple):
    """Untrusted states, to be validated."""

    states: States  # (n,)
    blank: States  # (1,) the variant's options
    faults: Int64s  # (n,) written: 0 for a valid state, else an index into `Game.faults`


def judge_state(batch: Inspections, i: int, thread: int, fixed: Fixed) -> None:
    """Check whether a state is valid."""
    batch.faults[i] = verbs.valid(batch.states[i], batch.blank[0], *fixed)


class Statuses(NamedTuple):
    """Statuses of games."""

    states: States  # (n,)
    statuses: Int64s  # (n,) written: PLAYING, ENDED or CUT_SHORT
    seats: Int64s  # (n,) written: the seat to move


def read_status(batch: Statuses, i: int, thread: int) -> None:
    """Write the status and the seat to move."""
    batch.statuses[i] = verbs.status(batch.states[i])
    batch.seats[i] = verbs.to_move(batch.states[i])


class Progresses(NamedTuple):
    """Progress of seats."""

    states: States  # (n,)
    seats: Int64s  # (n,)
    progress: Int64s  # (n,) written


def read_progress(batch: Progresses, i: int, thread: int) -> None:
    """Write the progress of a seat."""
    batch.progress[i] = verbs.progress(batch.states[i], batch.seats[i])


class Owners(NamedTuple):
    """Owners of the current turns."""

    states: States  # (n,)
    seats: Int64s  # (n,) written


def read_owner(batch: Owners, i: int, thread: int) -> None:
    """Write the seat whose turn it is."""
    batch.seats[i] = verbs.turn_of(batch.states[i])


class Outcomes(NamedTuple):
    """Returns of games that are over."""

    states: States
    games: Int64s  # (n,)
    kind: int  # the reward to compute, an index into `Game.rewards`
    returns: Float64s  # (n, players) written


def read_returns(batch: Outcomes, i: int, thread: int) -> None:
    """Write the returns of all seats."""
    verbs.returns(batch.states[batch.games[i]], batch.kind, batch.returns[i])


class Views(NamedTuple):
    """Views of one seat per game."""

    states: States  # (n,)
    seats: Int64s  # (n,)
    observations: WrittenRows  # float32 (n, size)
    masks: WrittenRows  # int8 (n, actions)


def view(batch: Views, i: int, thread: int, fixed: Fixed) -> None:
    """Write a seat's observation and mask. The mask is all 0 unless the seat is to move."""
    view_one(batch.states, i, batch.seats[i], batch.observations[i], batch.masks[i], fixed)


class Masks(NamedTuple):
    """Masks of the seats to move."""

    states: States  # (n,)
    masks: WrittenRows  # int8 (n, actions)


def read_mask(batch: Masks, i: int, thread: int, fixed: Fixed) -> None:
    """Write the mask of the seat to move."""
    verbs.legal(batch.states[i], batch.masks[i], *fixed)


class Concealments(NamedTuple):
    """States in which to remove the information that a seat may not see."""

    states: States  # (n,) written
    seats: Int64s  # (n,)


def conceal(batch: Concealments, i: int, thread: int) -> None:
    """Remove the information that the seat may not see."""
    verbs.conceal(batch.states[i], batch.seats[i])


class Determinisations(NamedTuple):
    """States in which to deal again the information that a seat may not see."""

    states: States  # (n,) written
    seats: Int64s  # (n,)
    seeds: Int64s  # (n,)


def determinise(batch: Determinisations, i: int, thread: int) -> None:
    """Deal again the information that the seat may not see."""
    verbs.determinise(batch.states[i], batch.seats[i], batch.seeds[i])


# --- choices, and random numbers for players -----------------------------------------------------


class Choices(NamedTuple):
    """Decisions of the seats to move."""

    states: States  # (n,)
    # (n,) random numbers in [0, 1). For `choose_greedily`: the number of a playing style plus a
    # random number, or a negative number for no choice.
    draws: Float64s
    masks: Int8s  # (2 * threads, actions) scratch
    scratch: Scratch  # (2 * threads, 1) for the scripted player
    actions: Int64s  # (n,) written


def choose_randomly(batch: Choices, i: int, thread: int, fixed: Fixed) -> None:
    """Choose a legal action with the game's random number."""
    mask = batch.masks[own(thread)]
    verbs.legal(batch.states[i], mask, *fixed)
    batch.actions[i] = pick(mask, batch.draws[i])


def choose_greedily(batch: Choices, i: int, thread: int, fixed: Fixed) -> None:
    """Make the scripted player's choice, unless the draw is below 0."""
    if batch.draws[i] < 0:
        return
    mask, scratch = batch.masks[own(thread)], batch.scratch[own(thread)]
    batch.actions[i] = verbs.greedy(batch.states[i], batch.draws[i], mask, scratch, *fixed)


class Streams(NamedTuple):
    """Random number streams to seed."""

    chance: Chance  # written
    games: Int64s  # (n,)
    seeds: Int64s  # (n,)


def seed_stream(batch: Streams, i: int, thread: int) -> None:
    """Seed a game's random number stream."""
    seed_chance(batch.chance, batch.games[i], batch.seeds[i])


class Picks(NamedTuple):
    """Random choices among the legal actions of masks."""

    masks: Int8s  # (n, actions)
    chance: Chance  # (n,)
    actions: Int64s  # (n,) written


def pick_action(batch: Picks, i: int, thread: int) -> None:
    """Pick a random legal action, or 0 if none is legal."""
    batch.actions[i] = pick(batch.masks[i], uniform(batch.chance, i))


class Questions(NamedTuple):
    """The inputs of the players to move."""

    states: States
    games: Int64s  # (n,)
    chance: Chance
    seen: States  # (n,) written: concealed copies
    movers: Int64s  # (n,) written: the seats to move
    draws: Float64s  # (n,) written: a random number per game


def ask(batch: Questions, i: int, thread: int) -> None:
    """Write a concealed copy of the state, the seat to move and a random number."""
    game = batch.games[i]
    batch.movers[i] = verbs.to_move(batch.states[game])
    batch.draws[i] = draw(batch.chance, game)
    batch.seen[i] = batch.states[game]
    verbs.conceal(batch.seen[i], batch.movers[i])


class Playouts(NamedTuple):
    """Games to play to their end at random."""

    states: States  # (n,) written
    chance: Chance  # (n,)
    kind: int  # the reward to compute, an index into `Game.rewards`
    masks: Int8s  # (2 * threads, actions) scratch
    returns: Float64s  # (n, players) written
    lengths: Int64s  # (n,) written: actions played


def play_out(batch: Playouts, i: int, thread: int, fixed: Fixed) -> None:
    """Play at random to the end. Write the returns and the number of actions."""
    s, mask = batch.states[i], batch.masks[own(thread)]
    length = 0
    while verbs.status(s) == PLAYING:
        verbs.legal(s, mask, *fixed)
        verbs.apply(s, pick(mask, uniform(batch.chance, i)), *fixed)
        length += 1
    batch.lengths[i] = length
    verbs.returns(s, batch.kind, batch.returns[i])


# --- self-play: one learner in all seats ---------------------------------------------------------


class Plays(NamedTuple):
    """Games in which the seat to move plays an action."""

    states: States  # (n,)
    actions: Int64s  # (n,) of the seats to move
    kind: int  # the reward to compute, an index into `Game.rewards`
    same_step: bool  # restart a game in the same step in which it ends
    over: Int8s  # (n,) final status of a game that is over and has not restarted; else PLAYING
    legal: PackedMasks  # (n, words) masks of the current states; never shown to the caller
    ends: Int8s  # (n,) written: status of each game after the step
    rewards: Float64s  # (n, players) written
    finals: States  # (n,) written if `same_step` and the game ended: its last state


class Sights(NamedTuple):
    """Views of the seats to move."""

    states: States  # (n,)
    over: Int8s  # (n,) as in `Plays`
    legal: PackedMasks  # (n, words) written: packed copies of the masks; never shown to the caller
    # (2 * threads, actions) scratch: masks are computed here, because other threads of the caller
    # may write to `masks`.
    spare: Int8s
    seats: Int64s  # (n,) written: the seat to move
    observations: WrittenRows  # float32 (n, size)
    masks: WrittenRows  # int8 (n, actions)


class SelfPlay(NamedTuple):
    """A step of games in which the caller plays all seats, and the views after it."""

    plays: Plays
    sights: Sights


def take_turn(batch: Plays, i: int, thread: int, fixed: Fixed) -> None:
    """Play one action of the seat to move. With `same_step`, restart the game if it ends.

    A game that was already over restarts, and its action is ignored.
    """
    s = batch.states[i]
    for seat in range(batch.rewards.shape[1]):
        batch.rewards[i, seat] = 0
    if batch.over[i]:
        verbs.start(s, *fixed)
        batch.ends[i] = batch.over[i] = PLAYING
        return
    end, action = np.int64(ILLEGAL), batch.actions[i]
    if not is_packed(batch.legal[i], action):
        batch.rewards[i, verbs.to_move(s)] = ILLEGAL_REWARD
    else:
        verbs.apply(s, action, *fixed)
        end = np.int64(verbs.status(s))
        if end:
            verbs.returns(s, batch.kind, batch.rewards[i])
    batch.ends[i] = end
    if end and batch.same_step:
        batch.finals[i] = s
        verbs.start(s, *fixed)
    else:
        batch.over[i] = end


def view_mover(batch: Sights, i: int, thread: int, fixed: Fixed) -> None:
    """Write the seat to move and its view. The mask is all 0 if the game is over."""
    s = batch.states[i]
    seat = verbs.to_move(s)
    batch.seats[i] = seat
    verbs.observe(s, seat, batch.observations[i], *fixed)
    mask, shown = batch.spare[own(thread)], batch.masks[i]
    if batch.over[i]:
        mask[:] = 0
    else:
        verbs.legal(s, mask, *fixed)
    pack(mask, batch.legal[i])
    for action in range(mask.size):
        shown[action] = mask[action]


def step(batch: SelfPlay, i: int, thread: int, fixed: Fixed) -> None:
    """Call `take_turn`, then `view_mover` while the state is still in the processor's cache."""
    take_turn(batch.plays, i, thread, fixed)
    view_mover(batch.sights, i, thread, fixed)


# Bodies with so little work per game that only large batches are worth several threads.
LIGHT: tuple[Body, ...] = (
    *(apply, read_status, read_owner, read_progress, seed_stream, pick_action),
)
