"""How the process that learns, or plays for a learner, goes about its work."""

from __future__ import annotations

import ctypes
import platform

import torch

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1  # of mallopt, as glibc's malloc.h numbers them
_KEPT = 1 << 27  # bytes


def settle(threads: int) -> None:
    """Give torch so many threads, have it take tiny numbers for 0, and keep memory that is freed.

    Else glibc gives large arrays back to the system with every minibatch, and gets them as new
    pages with the next one: a sixth of the time of PPO where there are a thousand actions.
    """
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, _KEPT)
        libc.mallopt(_TRIM_THRESHOLD, _KEPT)
