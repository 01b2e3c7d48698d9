"""Armada as a PettingZoo AEC environment: `from armarl import armada_v0`.

`env` and `raw_env` take these keyword options: `players` (2, 3 or 4; default 2), `cards` (False),
`enrolment` (False), `max_turns` (400), `chart` and `dice` (a file, its text, or a dictionary, to
replace the standard chart or dice), `reward` ("win"), `render_mode` (None, "human", "ansi" or
"rgb_array") and `render_width` (512 pixels). `mask` ("observation" or "info") is the place of the
action masks. `observation_key` and `mask_key` are the keys of the observation and the mask.
`max_cycles` (None: no limit) is the number of actions after which a game is truncated.
"""

from __future__ import annotations

from typing import Any

from armarl.environments.aec import CheckedAECEnv, RawAECEnv, make_aec

__all__ = ["env", "raw_env"]


def env(**options: Any) -> RawAECEnv:
    """Make Armada with PettingZoo's usual checks. An illegal action loses the game.

    Example:
        >>> from armarl import armada_v0
        >>> env = armada_v0.env(players=2, cards=True)
        >>> env.possible_agents
        ['player_0', 'player_1']
    """
    return make_aec(CheckedAECEnv, "armada", **options)


def raw_env(**options: Any) -> RawAECEnv:
    """Make Armada without PettingZoo's checks. An illegal action raises `IllegalActionError`.

    Example:
        >>> from armarl import armada_v0
        >>> env = armada_v0.raw_env(players=2)
        >>> env.reset(seed=1)
        >>> env.agent_selection in env.possible_agents
        True
    """
    return make_aec(RawAECEnv, "armada", **options)
