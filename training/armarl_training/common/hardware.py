"""The hardware that trains a policy: its description for the card, and its faster precision."""

from __future__ import annotations

import platform
from pathlib import Path

from armarl.core.threads import available_cores


def hardware(device: str) -> dict[str, str | int]:
    """Describe the machine and torch's version, without the number of threads, a setting."""
    import torch

    found: dict[str, str | int] = {
        "processor": processor(),
        "cores": available_cores(),
        "torch": torch.__version__,
    }
    if device == "cpu" or not torch.cuda.is_available():  # not available: a simulated GPU
        return found
    return {**found, "gpu": torch.cuda.get_device_name(device)}


def processor() -> str:
    """Return the processor's model if the system tells it, otherwise its architecture."""
    return _of_the_processor("model name") or platform.processor() or platform.machine()


def quicker_precision(device: str) -> str:
    """Return the faster precision of matrix products: bfloat16 if there are units, else float32.

    On a processor without such instructions, float32 was six times as fast.
    """
    if device == "cpu":
        its_own = {"amx_bf16", "avx512_bf16"} & _instructions()
        return "bfloat16" if its_own else "float32"
    import torch

    units = torch.cuda.is_available() and torch.cuda.get_device_capability(device)[0] >= 8  # A100
    return "bfloat16" if units else "float32"


def multiplies_matrices() -> bool:
    """Whether the processor has matrix units (AMX), many times as fast as its other units."""
    return "amx_bf16" in _instructions()


def _instructions() -> set[str]:
    return set(_of_the_processor("flags").split())


def _of_the_processor(name: str) -> str:
    """An entry of Linux's /proc/cpuinfo; empty on other systems."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""
