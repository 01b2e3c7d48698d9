"""Functions that describe a run's hardware, for its policy card, and choose a precision for it."""

from __future__ import annotations

import platform
from pathlib import Path

from armarl.core.threads import available_cores


def hardware(device: str) -> dict[str, str | int]:
    """Return the processor, the number of cores, torch's version and the GPU, if one is used.

    The number of threads is not included, because it is a setting.
    """
    import torch

    found: dict[str, str | int] = {
        "processor": processor(),
        "cores": available_cores(),
        "torch": torch.__version__,
    }
    if device == "cpu" or not torch.cuda.is_available():  # Numba may simulate a GPU
        return found
    return {**found, "gpu": torch.cuda.get_device_name(device)}


def processor() -> str:
    """Return the processor's model if the system reports it, otherwise its architecture."""
    return _of_the_processor("model name") or platform.processor() or platform.machine()


def quicker_precision(device: str) -> str:
    """Return the faster precision of matrix products, float32 or bfloat16.

    bfloat16 is faster on devices that support it in hardware. On a processor without this support,
    float32 was six times as fast as bfloat16.
    """
    if device == "cpu":
        its_own = {"amx_bf16", "avx512_bf16"} & _instructions()
        return "bfloat16" if its_own else "float32"
    import torch

    # The A100, of compute capability 8.0, was NVIDIA's first GPU with hardware for bfloat16.
    units = torch.cuda.is_available() and torch.cuda.get_device_capability(device)[0] >= 8
    return "bfloat16" if units else "float32"


def multiplies_matrices() -> bool:
    """Return whether the processor has AMX, which multiplies matrices many times faster."""
    return "amx_bf16" in _instructions()


def _instructions() -> set[str]:
    return set(_of_the_processor("flags").split())


def _of_the_processor(name: str) -> str:
    """Return the first value with this name in Linux's /proc/cpuinfo, or "" if there is none."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""
