"""What a policy is trained on, in the words of its card."""

from __future__ import annotations

import platform
from pathlib import Path

from armarl.threads import available_cores


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
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
