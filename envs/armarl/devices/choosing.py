"""Choose a device by its name."""

from __future__ import annotations

from armarl.core.game import Game
from armarl.devices.device import Cpu, Device


def device_of(game: Game, name: str) -> Device:
    """The device of this name, for a game.

    Raises:
        ValueError: there is no such device.
        RuntimeError: what it needs is missing; the message says what to install.
    """
    if name == "cpu":
        return Cpu(game)
    kind, _, number = str(name).partition(":")
    if kind == "cuda" and (number.isdecimal() or name == kind):
        from armarl.devices.cuda_game import CudaGame

        return CudaGame(game, name)
    raise ValueError(f"device must be 'cpu', 'cuda' or 'cuda:0' and so on, not {name!r}")
