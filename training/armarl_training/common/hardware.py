"""What a policy is trained on: in the words of its card, and what is quick on it."""

from __future__ import annotations

import platform
from pathlib import Path

from armarl.core.threads import available_cores


def hardware(device: str) -> dict[str, str | int]:
    """The machine as a run finds it, and torch's version; threads are a setting of the run."""
    import torch

    found: dict[str, str | int] = {
        "processor": processor(),
        "cores": available_cores(),
        "torch": torch.__version__,
    }
    if device == "cpu" or not torch.cuda.is_available():  # the simulator of one
        return found
    return {**found, "gpu": torch.cuda.get_device_name(device)}


def processor() -> str:
    """The processor's model, where the system says it; else its kind."""
    return _of_the_processor("model name") or platform.processor() or platform.machine()


def quicker_precision(device: str) -> str:
    """Of a learner's products of matrices: bfloat16 where there are units for them, else float32.

    On a processor without such instructions float32 was six times as quick
    (docs/training/training.md).
    """
    if device == "cpu":
        its_own = {"amx_bf16", "avx512_bf16"} & _instructions()
        return "bfloat16" if its_own else "float32"
    import torch

    units = torch.cuda.is_available() and torch.cuda.get_device_capability(device)[0] >= 8  # A100
    return "bfloat16" if units else "float32"


def multiplies_matrices() -> bool:
    """Whether the processor has units for products of matrices, many times as quick as the rest."""
    return "amx_bf16" in _instructions()


def _instructions() -> set[str]:
    return set(_of_the_processor("flags").split())


def _of_the_processor(name: str) -> str:
    """What the system says of it; nothing where it does not say it as Linux does."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""
