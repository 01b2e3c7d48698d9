"""A table on which tests play Armadora by notation through the public API."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from armarl.compiler.types import States
from armarl.core.batch_loops import HAS_ENDED, WAS_ILLEGAL, play_one
from armarl.core.game import Game
from armarl.games.make_game import make_game
from reference.armadora.game import kind_of, lines_around

CORNERS = {  # each corner of 2 by 2 squares has one mine
    "top left": ["a1", "b1", "a2", "b2"],
    "top right": ["g1", "h1", "g2", "h2"],
    "bottom left": ["a4", "b4", "a5", "b5"],
    "bottom right": ["g4", "h4", "g5", "h5"],
}

HARMLESS = [f"{left}{row}-{right}{row}" for left, right in ("cd", "de", "ef") for row in (1, 2, 3)]


class Table:
    """A game in progress.

    Args:
        gold: the gold that some mines must have. The table searches for a deal with this gold.
        characters: the characters that the players must have in this deal.
    """

    def __init__(
        self,
        players: int = 2,
        gold: dict[str, int] | None = None,
        characters: str | None = None,
        peek: bool = True,
        advanced: bool | None = None,
        board: str = "whole",
    ) -> None:
        if advanced is None:
            advanced = characters is not None
        self.game: Game = make_game(
            "armadora", players=players, advanced=advanced, peek=peek, board=board
        )
        self.states: States = self.game.new_states(_seed(self.game, gold or {}, characters))

    @property
    def legal(self) -> set[str]:
        return set(self.game.actions.legal_texts(self.game.legal_masks(self.states)[0]))

    def legal_of(self, kind: str) -> set[str]:
        """Return the legal actions that start with the word `kind`, without that word."""
        return {text[len(kind) + 1 :] for text in self.legal if text.startswith(f"{kind} ")}

    def view(self, seat: int | None = None) -> dict[str, Any]:
        return self.game.describe(self.states[0], seat)

    def __getattr__(self, name: str) -> Any:
        """Give access to all names of the public view: `table.to_move`, `table.stage`, ..."""
        try:
            return self.view()[name]
        except KeyError:
            raise AttributeError(name) from None

    def seen_by(self, seat: int, block: str) -> np.ndarray:
        """Return a block of a seat's observation, in real units."""
        observations, _ = self.game.views(self.states, np.array([seat]))
        return self.game.observation.decode(observations[0])[block]

    def _try(self, text: str) -> int:
        mask = np.empty(len(self.game.actions), np.int8)
        rewards = np.full(self.game.players, np.nan)
        action = self.game.actions.id(text)
        code: int = self.game.compiled(play_one)(
            self.states, 0, action, mask, rewards, 0, self.game.fixed_records
        )
        if code == HAS_ENDED:
            self.rewards = rewards.tolist()
        return code

    def play(self, *texts: str) -> Table:
        """Play actions. `...` is a palisade in the middle of the board that closes no territory."""
        for text in texts:
            if text == "...":
                self.play(min(f"P {line}" for line in HARMLESS if f"P {line}" in self.legal))
                self.play("stop")
                continue
            reason = self.game.explain(self.states[0], self.game.actions.id(text))
            assert self._try(text) != WAS_ILLEGAL, reason
        return self

    def refuses(self, text: str, rule: str) -> bool:
        """Check that an action is refused with the number of the rule, and changes nothing."""
        before = self.states.tobytes()
        assert text not in self.legal, f"{text} is legal"
        assert self._try(text) == WAS_ILLEGAL
        assert self.states.tobytes() == before
        reason = self.game.explain(self.states[0], self.game.actions.id(text))
        assert reason.startswith(f"`{text}` is illegal: "), reason
        assert f"({rule})" in reason, reason
        return True

    def wall(self, *regions: list[str]) -> Table:
        """Close territories with palisades. Each player in turn places one palisade."""
        for region in regions:
            for line in lines_around(region):
                if line not in self.palisades:
                    self.play(f"P {line}")
                    if self.stage == "second palisade":
                        self.play("stop")
        return self

    def spend(self, *kinds: str, until: Callable[[], bool] = lambda: False) -> Table:
        """Let each player in turn play the first legal action of these kinds, or pass.

        Stop when `until` is true at the start of a turn, or when all have passed.
        """
        while self.stage != "over" and not until():
            texts = [text for kind in kinds for text in sorted(self.legal) if kind_of(text) == kind]
            self.play(texts[0] if texts else "pass")
            if self.stage == "second palisade":
                self.play("stop")
        return self

    def finish(self) -> dict[str, Any]:
        """Let all players pass, and return the results."""
        if self.stage == "second palisade":
            self.play("stop")
        while self.stage != "over":
            self.play("pass")
        result: dict[str, Any] = self.result
        return result


@cache
def _deals(game: Game) -> States:
    return game.new_states(np.arange(20_000))


def _seed(game: Game, gold: dict[str, int], characters: str | None) -> int:
    """Return the first seed whose deal has this gold and these characters."""
    deals = _deals(game)
    views = game.describe(deals[0])
    mines = list(views["gold"])
    fits = np.ones(deals.size, bool)
    for mine, pile in gold.items():
        fits &= deals["gold"][:, mines.index(mine)] == pile
    for seed in np.flatnonzero(fits).tolist():
        if characters is None or game.describe(deals[seed])["characters"] == characters.split():
            return seed
    raise AssertionError(f"no deal with gold {gold} and characters {characters}")
