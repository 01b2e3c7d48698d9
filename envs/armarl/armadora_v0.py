"""Armadora as a PettingZoo AEC environment: `from armarl import armadora_v0`.

Options of `env` and `raw_env`, all keywords: `players` (2, 3 or 4; default 2), `advanced` (False),
`peek` (True), `board` ("whole"; "mini": a tiny one for two players, for study), `reward` ("win" or
"gold"), `render_mode` (None, "human" or "ansi"); `mask` ("observation" or "info"),
`observation_key` and `mask_key` say where action masks are.
"""

from __future__ import annotations

from typing import Any

from armarl.environments.aec import CheckedAECEnv, RawAECEnv, make_aec

__all__ = ["env", "raw_env"]


def env(**options: Any) -> RawAECEnv:
    """Armadora with PettingZoo's usual checks: an illegal action loses the game."""
    return make_aec(CheckedAECEnv, "armadora", **options)


def raw_env(**options: Any) -> RawAECEnv:
    """Armadora without them: an illegal action raises `IllegalActionError`."""
    return make_aec(RawAECEnv, "armadora", **options)
