"""Armadora as a PettingZoo AEC environment: `from armarl import armadora_v0`.

`env` and `raw_env` take these keyword options:

- `players`: 2 (default), 3 or 4;
- `advanced`: True to play with the advanced rules (default False);
- `peek`: True (default) to always show players the values of their own placed Warriors;
- `board`: "whole" (default), or "mini", a tiny two-player board for game-theoretic studies;
- `reward`: "win" (default) or "gold";
- `render_mode`: None, "human", "ansi" or "rgb_array";
- `render_width`: the width of frames in pixels, 16 to 4096 (default 512);
- `mask`: where the action masks are, "observation" (default) or "info";
- `observation_key`, `mask_key`: the keys of the observation and the mask;
- `max_cycles`: the number of actions after which a game is truncated (default None: no limit).

Example:
    >>> from armarl import armadora_v0
    >>> env = armadora_v0.env(players=2)
    >>> env.possible_agents
    ['player_0', 'player_1']
"""

from __future__ import annotations

from typing import Any

from armarl.environments.aec import CheckedAECEnv, RawAECEnv, make_aec

__all__ = ["env", "raw_env"]


def env(**options: Any) -> RawAECEnv:
    """Make Armadora with PettingZoo's usual checks. An illegal action loses the game.

    Args:
        options: see the module.

    Raises:
        TypeError: an option or the render mode is unknown.
        ValueError: the value of an option is wrong.

    Example:
        >>> from armarl import armadora_v0
        >>> env = armadora_v0.env(players=3)
        >>> env.possible_agents
        ['player_0', 'player_1', 'player_2']
    """
    return make_aec(CheckedAECEnv, "armadora", **options)


def raw_env(**options: Any) -> RawAECEnv:
    """Make Armadora without PettingZoo's checks. An illegal action raises `IllegalActionError`.

    Args:
        options: see the module.

    Raises:
        TypeError, ValueError: as in `env`.

    Example:
        >>> from armarl import armadora_v0
        >>> env = armadora_v0.raw_env(players=2)
        >>> env.reset(seed=1)
        >>> env.agent_selection
        'player_0'
    """
    return make_aec(RawAECEnv, "armadora", **options)
