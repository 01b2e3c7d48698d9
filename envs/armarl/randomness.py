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
