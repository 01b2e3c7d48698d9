"""Choose a device by name."""

from __future__ import annotations

from armarl.core.game import Game
from armarl.devices.device import Cpu, Device


def device_of(game: Game, name: str) -> Device:
    """Return the device with this name, for a game.

    Raises:
        ValueError: the name is not a device.
        RuntimeError: a requirement of the device is missing; the message says what to install.
    """
    if name == "cpu":
        return Cpu(game)
    kind, _, number = str(name).partition(":")
    if kind == "cuda" and (number.isdecimal() or name == kind):
        from armarl.devices.cuda_game import CudaGame

        return CudaGame(game, name)
    raise ValueError(f"device must be 'cpu', 'cuda' or 'cuda:N' (such as 'cuda:0'), not {name!r}")
