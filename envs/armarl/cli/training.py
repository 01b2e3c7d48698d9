"""The commands `train`, `sweep` and `exploit`, which call the training package."""

from __future__ import annotations

import argparse
import json
from typing import Any


def train(options: argparse.Namespace) -> int:
    """Train a policy, or resume a run."""
    settings = options.settings
    if options.ray is not None:
        settings = [f"ray={json.dumps(options.ray)}", *settings]
    asked = options.config, settings, options.folder, options.resume
    return int(_training().train(*asked, against=options.against, code=options.code))


def sweep(options: argparse.Namespace) -> int:
    """Search for good training settings."""
    asked = options.config, options.settings, options.folder, options.trials
    return int(_training().sweep(*asked, code=options.code))


def exploit(options: argparse.Namespace) -> int:
    """Train a best response to a player, and measure its win rate."""
    from armarl.cli.shared_options import game_of

    named = options.game is not None or options.option
    asked = ("config", "start", "minutes", "decisions", "seeds", "games", "code")
    return int(
        _training().exploit(
            options.player,
            options.folder,
            game=game_of(options, [options.player]) if named else None,
            **{name: getattr(options, name) for name in asked},
        )
    )


def _training() -> Any:
    """Import the commands of the training package.

    Raises:
        ImportError: the dependencies of the training package are not installed.
    """
    try:
        from armarl_training.run import command
    except ImportError as error:
        raise ImportError(
            f"training needs more packages ({error}): pip install 'armarl[train]'"
        ) from error
    return command
