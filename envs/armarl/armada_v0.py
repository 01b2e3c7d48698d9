"""Armada as a PettingZoo AEC environment: `from armarl import armada_v0`.

`env` and `raw_env` take these keyword options:

- `players`: 2 (default), 3 or 4;
- `cards`, `enrolment`: True to play with these optional rules (default False);
- `max_turns`: the number of turns, summed over the colours, after which the game is cut short
  (default 400);
- `chart`, `dice`: a file, its text, or a dictionary, to replace the standard board or dice;
- `reward`: "win";
- `render_mode`: None, "human", "ansi" or "rgb_array";
- `render_width`: the width of frames in pixels, 16 to 4096 (default 512);
- `mask`: where the action masks are, "observation" (default) or "info";
- `observation_key`, `mask_key`: the keys of the observation and the mask;
- `max_cycles`: the number of actions after which a game is truncated (default None: no limit).

Example:
    >>> from armarl import armada_v0
    >>> env = armada_v0.env(players=2)
    >>> env.possible_agents
    ['player_0', 'player_1']
"""

from __future__ import annotations

from typing import Any

from armarl.environments.aec import CheckedAECEnv, RawAECEnv, make_aec

__all__ = ["env", "raw_env"]


def env(**options: Any) -> RawAECEnv:
    """Make Armada with PettingZoo's usual checks. An illegal action loses the game.

    Args:
        options: see the module.

    Raises:
        TypeError: an option or the render mode is unknown.
        ValueError: the value of an option is wrong.
        OSError: the file of the chart or the dice cannot be read.

    Example:
        >>> from armarl import armada_v0
        >>> env = armada_v0.env(players=2, cards=True)
        >>> env.possible_agents
        ['player_0', 'player_1']
    """
    return make_aec(CheckedAECEnv, "armada", **options)


def raw_env(**options: Any) -> RawAECEnv:
    """Make Armada without PettingZoo's checks. An illegal action raises `IllegalActionError`.

    Args:
        options: see the module.

    Raises:
        TypeError, ValueError, OSError: as in `env`.

    Example:
        >>> from armarl import armada_v0
        >>> env = armada_v0.raw_env(players=2)
        >>> env.reset(seed=1)
        >>> env.agent_selection in env.possible_agents
        True
    """
    return make_aec(RawAECEnv, "armada", **options)
