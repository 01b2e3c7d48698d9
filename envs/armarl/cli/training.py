"""The commands `train` and `sweep`, which call the training package."""

from __future__ import annotations

import argparse
import json
from typing import Any


def train(options: argparse.Namespace) -> int:
    """Train a policy, or resume a run."""
    command = _training()
    settings = options.settings
    if options.ray is not None:
        settings = [f"ray={json.dumps(options.ray)}", *settings]
    if options.against is not None:
        if options.resume is not None:
            raise ValueError("a resumed run keeps its opponents: leave out --against")
        settings = [*_against(options.against), *settings]
    where = options.folder, options.resume
    return int(command.train(options.config, settings, *where, code=options.code))


def sweep(options: argparse.Namespace) -> int:
    """Search for good training settings."""
    asked = options.config, options.settings, options.folder, options.trials
    return int(_training().sweep(*asked, code=options.code))


def _training() -> Any:
    """Import the commands of the training package.

    Raises:
        ImportError: its dependencies are not installed.
    """
    try:
        from armarl_training.run import command
    except ImportError as error:
        raise ImportError(
            f"training needs more packages ({error}): pip install 'armarl[train]'"
        ) from error
    return command


def _against(player: str) -> list[str]:
    """Settings of a run in which one player is the only opponent, in training and evaluation."""
    return [
        f"opponents.players={json.dumps({player: 1})}",
        "opponents.share=1",
        "opponents.earlier=0",
        f"evaluation.opponents={json.dumps([player])}",
    ]
