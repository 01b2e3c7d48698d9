"""Everything about Numba: decorators, the kernel cache, record types, bit sets, randomness."""
