"""The random generator that lives inside a state: SplitMix64 (Steele, Lea and Flood, 2014).

Its whole state is one uint64 field named `rng`, so a state holds its own future. Numba lets LLVM
assume that signed integers never overflow, so all arithmetic that wraps is on uint64, and none of
it mixes with signed integers, which would make floats.
"""

from __future__ import annotations

import numpy as np

from armarl.compiled import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _1 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(1)
_11, _UNIT = np.uint64(11), 2.0**-53
_BLOCK = 64  # actions that are counted at once


@kernel
def mix(x):
    """SplitMix64's finaliser: uint64 to uint64, one to one."""
    x = (x ^ (x >> _30)) * _MIX_1
    x = (x ^ (x >> _27)) * _MIX_2
    return x ^ (x >> _31)


@kernel
def seed(state, number):
    """Set the generator of `state` from any int64."""
    state.rng = mix(np.uint64(number) + _GOLDEN)


@kernel
def random_bits(state):
    """The next 63 random bits, as a non-negative int64."""
    state.rng = state.rng + _GOLDEN
    return np.int64(mix(state.rng) >> _1)


@kernel
def random_below(state, n):
    """A random integer in [0, n); the bias of the modulus is below 2**-50 for every n used here."""
    return random_bits(state) % n


# --- chance outside the states: one stream a game, in an array of uint64 -------------------------


@kernel
def seed_chance(chance, i, number):
    """Set stream `i` from any int64; it has nothing to do with a state's that has this seed."""
    chance[i] = mix(mix(np.uint64(number) + _GOLDEN) ^ _MIX_2)


@kernel
def uniform(chance, i):
    """The next random number in [0, 1) of stream `i`."""
    chance[i] += _GOLDEN
    return np.float64(np.int64(mix(chance[i]) >> _11)) * _UNIT


# --- a random choice -----------------------------------------------------------------------------


@kernel
def _count(mask, first, last):
    """The number of legal actions in a range."""
    n = np.int64(0)
    for action in range(first, last):
        n += mask[action]
    return n


@kernel
def pick(mask, draw):
    """The legal action at `draw`, a number in [0, 1), of their list; 0 if none is legal."""
    n = _count(mask, 0, mask.size)
    if n == 0:
        return np.int64(0)
    wanted = np.int64(draw * n)
    first = 0
    while first + _BLOCK < mask.size:
        n = _count(mask, first, first + _BLOCK)
        if wanted < n:
            break
        wanted -= n
        first += _BLOCK
    while wanted > 0 or mask[first] == 0:
        wanted -= mask[first]
        first += 1
    return np.int64(first)
