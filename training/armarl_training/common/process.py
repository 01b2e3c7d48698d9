"""Settings of torch and of memory, for a process that trains or plays a learner's games."""

from __future__ import annotations

import ctypes
import platform

import torch

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1  # parameters of mallopt, from glibc's malloc.h
_KEPT = 1 << 27  # bytes; malloc keeps this much freed memory, and uses mmap only for larger arrays


def settle(threads: int) -> None:
    """Set torch's number of threads, flush denormal numbers to 0, and keep freed memory.

    By default, glibc returns the memory of large arrays to the system after every minibatch, and
    gets new pages for the next one. In a game with a thousand actions, this took a sixth of PPO's
    time.
    """
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, _KEPT)
        libc.mallopt(_TRIM_THRESHOLD, _KEPT)
