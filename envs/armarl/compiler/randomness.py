"""The random number generator inside a state: SplitMix64 (Steele, Lea and Flood, 2014).

The generator's whole state is one uint64 field named `rng`, so a game state determines its own
future. Numba lets LLVM assume that signed integers never overflow. So all arithmetic that wraps
uses uint64. This arithmetic never mixes uint64 with signed integers: Numba 0.68 computes such a
mixture as int64, and earlier versions as floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.bits import count, eight_bytes
from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.types import Int, Mask, Real, State

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _1 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(1)
_11, _UNIT = np.uint64(11), 2.0**-53
# A word whose bytes are all 1, and a word in which only the top bit of each byte is set.
_EACH, _TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@inlined
def mix(x: Int) -> Int:
    """Apply SplitMix64's finaliser, a bijection from uint64 to uint64."""
    x = (x ^ (x >> _30)) * _MIX_1
    x = (x ^ (x >> _27)) * _MIX_2
    return x ^ (x >> _31)


@inlined
def seed(state: State, number: Int) -> None:
    """Seed the generator of `state` with any int64."""
    state.rng = mix(np.uint64(number) + _GOLDEN)


@inlined
def random_bits(state: State) -> Int:
    """Return the next 63 random bits, as a non-negative int64."""
    state.rng = state.rng + _GOLDEN
    return np.int64(mix(state.rng) >> _1)


@inlined
def random_below(state: State, n: Int) -> Int:
    """Return a random integer in [0, n). The modulo bias is below 2**-50 for every n used here."""
    return random_bits(state) % n


# --- chance outside the states: one stream per game, in an array of uint64 ----------------------
#
# Players see numbers of these streams. SplitMix64 can be inverted: two of its numbers reveal its
# state, and the state reveals the seed of the deal. So a one-way function derives a stream from
# its seed. The same function derives from the stream the numbers that players see.

# The words that are hashed, one for each purpose.
_SEEDED, _DRAWN, _MOVED_ON = np.uint64(1), np.uint64(2), np.uint64(3)
_SIP_0, _SIP_1 = np.uint64(0x736F6D6570736575), np.uint64(0x646F72616E646F6D)
_SIP_2, _SIP_3 = np.uint64(0x6C7967656E657261), np.uint64(0x7465646279746573)
_LENGTH, _LAST = np.uint64(8 << 56), np.uint64(0xFF)  # constants of SipHash for one word
_ZERO = np.uint64(0)


@inlined
def _rotated(x: Int, by: Int) -> Int:
    """Rotate the bits of a word (uint64) to the left."""
    return (x << by) | (x >> (np.uint64(64) - by))


@inlined
def _sip_round(a: Int, b: Int, c: Int, d: Int) -> tuple[Any, Any, Any, Any]:
    """Apply one round of SipHash to its four words."""
    a, c = a + b, c + d
    b, d = _rotated(b, np.uint64(13)) ^ a, _rotated(d, np.uint64(16)) ^ c
    a, c = _rotated(a, np.uint64(32)) + d, c + b
    b, d = _rotated(b, np.uint64(17)) ^ c, _rotated(d, np.uint64(21)) ^ a
    return a, b, _rotated(c, np.uint64(32)), d


@inlined
def _sip_block(a: Int, b: Int, c: Int, d: Int, block: Any) -> tuple[Any, Any, Any, Any]:
    """Feed a word to SipHash, with two rounds."""
    a, b, c, d = _sip_round(a, b, c, d ^ block)
    a, b, c, d = _sip_round(a, b, c, d)
    return a ^ block, b, c, d


@kernel
def sip_hash(key: Int, more_key: Int, word: Int) -> Int:
    """Return SipHash-2-4 (Aumasson and Bernstein, 2012) of a word and a two-word key, all uint64.

    No known method finds the key from a hash, or predicts the hash of another word, faster than
    trying all keys.
    """
    a, b, c, d = _SIP_0 ^ key, _SIP_1 ^ more_key, _SIP_2 ^ key, _SIP_3 ^ more_key
    a, b, c, d = _sip_block(a, b, c, d, word)
    a, b, c, d = _sip_block(a, b, c, d, _LENGTH)
    c ^= _LAST
    for _ in range(4):
        a, b, c, d = _sip_round(a, b, c, d)
    return a ^ b ^ c ^ d


@kernel
def seed_chance(chance: NDArray[np.uint64], i: Int, number: Int) -> None:
    """Seed stream `i` with any int64. To find the seed from the stream, one must try all seeds."""
    chance[i] = sip_hash(np.uint64(number), _ZERO, _SEEDED)


@inlined
def uniform(chance: NDArray[np.uint64], i: Int) -> Real:
    """Return the next number in [0, 1) of stream `i`.

    It takes less time than `draw`, but players must never see its numbers.
    """
    chance[i] += _GOLDEN
    return np.float64(np.int64(mix(chance[i]) >> _11)) * _UNIT


@kernel
def draw(chance: NDArray[np.uint64], i: Int) -> Real:
    """Return the next random number in [0, 1) of stream `i`, for a player to see.

    The number reveals nothing about the stream. The stream is the hash key. The number and the
    stream's next value are hashes of different words, so a number reveals neither earlier nor later
    numbers.
    """
    word = sip_hash(chance[i], _ZERO, _DRAWN)
    chance[i] = sip_hash(chance[i], _ZERO, _MOVED_ON)
    return np.float64(np.int64(word >> _11)) * _UNIT


# --- several random numbers out of one -----------------------------------------------------------

_2 = np.uint64(2)


@inlined
def split_draw(draw: Real, part: Int) -> Real:
    """Return another random number in [0, 1), a hash of `draw` and `part`. `part` is 1 to 3."""
    word = np.uint64(draw * 2.0**53)
    return np.float64(np.int64(mix((word << _2) ^ np.uint64(part)) >> _11)) * _UNIT


@kernel
def split_all(draws: NDArray[np.float64], parts: NDArray[np.float64]) -> None:
    """Write parts 1 and 2 (see `split_draw`) of each of n random numbers to `parts`, (2, n)."""
    for i in range(draws.size):
        for part in range(2):
            parts[part, i] = split_draw(draws[i], part + 1)


# --- a random choice -----------------------------------------------------------------------------


@inlined
def _byte_at(word: Int, rank: Int) -> Int:
    """Return the index of the byte that is 1 and follows `rank` other ones in `word`.

    All bytes of `word` are 0 or 1.
    """
    ones_so_far = word * _EACH  # byte i contains the number of ones in bytes 0 to i
    # Keep the top bit of each byte that is larger than `rank`.
    beyond = ((ones_so_far | _TOPS) - np.uint64(rank + 1) * _EACH) & _TOPS
    return 8 - count(beyond)


@inlined
def pick(mask: Mask, draw: float) -> Int:
    """Return the legal action with index `floor(draw * n)` among the n legal actions.

    `draw` is in [0, 1). Returns 0 if no action is legal. All entries of a mask are 0 or 1, so one
    instruction counts eight actions.

    Example:
        >>> import numpy as np
        >>> from armarl.compiler.randomness import pick
        >>> int(pick(np.array([0, 1, 0, 1], np.int8), 0.5))
        3
    """
    whole = mask.size - mask.size % 8
    n = 0
    for first in range(0, whole, 8):
        n += count(eight_bytes(mask, first))
    for action in range(whole, mask.size):
        n += mask[action]
    wanted = np.int64(draw * n)
    for first in range(0, whole, 8):
        word = eight_bytes(mask, first)
        here = count(word)
        if wanted < here:
            return np.int64(first + _byte_at(word, wanted))
        wanted -= here
    for action in range(whole, mask.size):
        if wanted < mask[action]:
            return np.int64(action)
        wanted -= mask[action]
    return np.int64(0)


@inlined
def list_legal(mask: Mask, actions: NDArray[np.uint32]) -> Int:
    """Write the legal actions of a mask to `actions`, in order. Return their number.

    Most entries of a mask are 0, so the loop skips eight illegal actions in one step.
    """
    whole = mask.size - mask.size % 8
    n = 0
    for first in range(0, whole, 8):
        if eight_bytes(mask, first):
            for action in range(first, first + 8):
                actions[n] = action
                n += mask[action]
    for action in range(whole, mask.size):
        if mask[action]:
            actions[n] = action
            n += 1
    return n
