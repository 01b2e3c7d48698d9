"""Simple players, which wrap no other player: random, patient and greedy."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.compiler.work_sharing import Body
from armarl.core import batch_loops
from armarl.games.catalogue import game_entry
from armarl.players import protocol
from armarl.players.protocol import Thoughts

if TYPE_CHECKING:
    from armarl.core.game import Game


class RandomPlayer:
    """A player that plays uniformly at random among the legal actions."""

    def __init__(self, game: Game) -> None:
        self.name = "random"
        self.game = game

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        return _choices(batch_loops.choose_randomly, self.game, states, draws)

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Return the same probability for every legal action."""
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        playing, movers = self.game.statuses(states)
        asked = ((playing == 0) & (movers == seats))[:, None]
        masks = np.where(asked, self.game.legal_masks(states), 0)
        return Thoughts(masks / np.maximum(masks.sum(axis=1, keepdims=True), 1))


class PatientPlayer:
    """A random player that plays a last resort, such as passing, only if nothing else is legal.

    The game's module `rivals` lists the last resorts in `LAST_RESORTS`.
    """

    def __init__(self, game: Game) -> None:
        self.name = "random:patient"
        self.game = game
        texts = rivals(game, "random:patient").LAST_RESORTS
        self._last_resorts = [game.actions.id(text) for text in texts]

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        masks = self.game.legal_masks(states)
        others = masks.copy()
        others[:, self._last_resorts] = 0
        return pick_at(np.where(others.any(axis=1, keepdims=True), others, masks), draws)


class GreedyPlayer:
    """The scripted player. It looks one action ahead and plays the action that it rates highest.

    Args:
        game: the variant to play.
        style: one of `GREEDY_STYLES` in the game's module `styles`. None means the first style. The
            module's `HELD_OUT_STYLE` is for evaluation only: never train against this style.

    Attributes:
        style: the number of the style.

    Raises:
        ValueError: the game has no such style.
    """

    def __init__(self, game: Game, style: str | None = None) -> None:
        self.name = "greedy" if style is None else f"greedy:style={style}"
        self.game = game
        self.style = style_number(game, style)

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        below_next = np.nextafter(self.style + 1.0, 0.0)  # a sum could round up to the next style
        styled = np.minimum(self.style + draws, below_next)
        return _choices(batch_loops.choose_greedily, self.game, states, styled)


def style_names(game: Game) -> tuple[str, ...]:
    """Return the names of the greedy player's styles, in the order of their numbers.

    The tuple is empty if the game has only one style.
    """
    part = game_entry(game.name).part("styles")
    names: tuple[str, ...] = part.GREEDY_STYLES if part else ()
    return names


def style_number(game: Game, style: str | None) -> int:
    """Return the number of a style of the game's greedy player, or 0 for None.

    Raises:
        ValueError: the style is unknown.
    """
    if style is None:
        return 0
    styles = style_names(game)
    if style not in styles:
        known = ", ".join(styles) or "none"
        raise ValueError(f"greedy has no style {style!r} in {game.name}; its styles: {known}")
    return styles.index(style)


def _choices(
    body: Body, game: Game, states: States, draws: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the action that `body`, which takes `batch_loops.Choices`, chooses in each state."""
    actions, masks = np.empty(states.size, np.int64), game.scratch_masks(states.size)
    scratch = np.empty((len(masks), 1), game.scratch)
    game.run(body, states.size, batch_loops.Choices(states, draws, masks, scratch, actions))
    return actions


def pick_at(masks: NDArray[np.int8], draws: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a random legal action for each row. `draws` are random numbers in [0, 1)."""
    ranks = masks.cumsum(axis=1, dtype=np.int64)
    wanted = (draws * ranks[:, -1]).astype(np.int64)
    return np.asarray((ranks > wanted[:, None]).argmax(axis=1), np.int64)


def rivals(game: Game, what: str) -> ModuleType:
    """Return the module `rivals` of a game, which describes the game's reference opponents.

    Raises:
        ValueError: the game has no such module. The message names `what`, the player that needs it.
    """
    rivals = game_entry(game.name).part("rivals")
    if rivals is None:
        raise ValueError(f"{game.name} has no module `rivals`, which {what} needs")
    return rivals
