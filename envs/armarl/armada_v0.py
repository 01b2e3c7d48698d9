"""Armada as a PettingZoo AEC environment: `from armarl import armada_v0`.

Options of `env` and `raw_env`, all keywords: `players` (2, 3 or 4; default 2), `cards` (False),
`enrolment` (False), `max_turns` (400), `chart` (another chart than ours: a file, its text, or its
dictionary), `reward` ("win"), `render_mode` (None, "human" or "ansi"); `mask` ("observation" or
"info"), `observation_key` and `mask_key` say where action masks are.
"""

from __future__ import annotations

from typing import Any

from armarl.environments.aec import CheckedAECEnv, RawAECEnv, make_aec

__all__ = ["env", "raw_env"]


def env(**options: Any) -> RawAECEnv:
    """Armada with PettingZoo's usual checks: an illegal action loses the game."""
    return make_aec(CheckedAECEnv, "armada", **options)


def raw_env(**options: Any) -> RawAECEnv:
    """Armada without them: an illegal action raises `IllegalActionError`."""
    return make_aec(RawAECEnv, "armada", **options)
