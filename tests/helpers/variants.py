"""Every variant of every game, for tests that must pass for all of them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from armarl import register_game
from armarl.core.game import Game
from armarl.environments.aec import CheckedAECEnv, RawAECEnv, make_aec
from armarl.environments.seat_env import SeatEnv
from armarl.games.catalogue import game_entry
from armarl.games.make_game import make_game
from kuhn_poker import ENTRY
from reference.armada import checks as armada_checks
from reference.armadora import checks as armadora_checks


@dataclass(frozen=True)
class Variant:
    """A game with its options. The argument `more` of methods is passed to the environment."""

    game: str
    options: Mapping[str, Any]

    @property
    def midgame(self) -> int:
        """Return a number of decisions after which a random game has begun but not ended."""
        if self.options.get("board") == "mini":
            return 4  # a game on the mini board may end with the seventh decision
        return {"armadora": 15, "armada": 60, "kuhn_poker": 1}[self.game]

    @property
    def first_refusal(self) -> tuple[str, str]:
        """Return an action that is illegal at the start, and the rule that the error names."""
        return {
            "armadora": ("stop", "ARM-13"),
            "armada": ("end", "ADA-13"),
            "kuhn_poker": ("call", "nobody has bet"),
        }[self.game]

    @property
    def title(self) -> str:
        """Return the game's name in Gymnasium's ids."""
        return game_entry(self.game).title

    @property
    def long_turns(self) -> bool:
        """Return whether a seat may have several decisions in a row.

        Examples are two palisades in Armadora, and the orders of a turn in Armada.
        """
        return self.options.get("board") != "mini" and self.game != "kuhn_poker"

    def make(self) -> Game:
        return make_game(self.game, **self.options)

    def aec(self, face: str = "env", **more: Any) -> Any:
        """Return the PettingZoo environment that the function `face` of the game's module makes.

        A game from outside the package has no such module.
        """
        if self.game == "kuhn_poker":
            kind = {"env": CheckedAECEnv, "raw_env": RawAECEnv}[face]
            return make_aec(kind, self.game, **self.options, **more)
        module = importlib.import_module(f"armarl.{self.game}_v0")
        return getattr(module, face)(**self.options, **more)

    def seat_env(self, **more: Any) -> SeatEnv:
        return SeatEnv(self.game, **self.options, **more)

    def __str__(self) -> str:
        name = {
            "armadora": armadora_checks.variant_name,
            "armada": armada_checks.variant_name,
            "kuhn_poker": lambda options: f"{options['players']}p",
        }[self.game]
        return f"{self.game}-{name(dict(self.options))}"


# A random game of Armada has thousands of decisions. With this turn limit it has a few hundred.
SHORT = {"max_turns": 6}

# A game from outside the package (in `examples/`), which must pass all tests of our games.
register_game(ENTRY)
KUHN_POKER = [Variant("kuhn_poker", {"players": players}) for players in (2, 3, 4)]

VARIANTS = [
    *(Variant("armadora", options) for options in armadora_checks.VARIANTS),
    *(Variant("armada", options | SHORT) for options in armada_checks.VARIANTS),
    *KUHN_POKER,
]
BASIC = [Variant("armadora", {}), Variant("armada", SHORT), Variant("kuhn_poker", {})]
RICH = [
    Variant("armadora", {"players": 3, "advanced": True, "peek": True}),
    Variant("armada", {"players": 3, "cards": True, "enrolment": True, **SHORT}),
    KUHN_POKER[1],
]

# These games are long enough for cards, raids and battles.
GOLDEN = [
    Variant(
        variant.game,
        {**variant.options, "max_turns": 14} if "max_turns" in variant.options else variant.options,
    )
    for variant in VARIANTS
]

every_golden_variant = pytest.mark.parametrize("variant", GOLDEN, ids=str)
every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=str)
every_game = pytest.mark.parametrize("variant", BASIC, ids=lambda variant: variant.game)
every_rich_game = pytest.mark.parametrize("variant", RICH, ids=lambda variant: variant.game)
