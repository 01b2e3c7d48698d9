"""Players: whoever chooses actions for seats, in environments, matches and at the table.

A player is a pure function of what a seat may know and of one random number per decision. It gets
*concealed* states (see `Game.concealed`), so it cannot look at what its seat may not see, and it
keeps no memory and no random generator, so that a game repeats from its seed, alone or in a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armarl.game import Game, IllegalActionError, States


@runtime_checkable
class Player(Protocol):
    """The interface of every player: scripted, learnt, searching or human."""

    name: str

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Choose a legal action in each state.

        Args:
            states: (batch,) records, `states[i]` concealed for `seats[i]`, which is to move there.
            seats: (batch,) seat numbers.
            draws: (batch,) random numbers in [0, 1), the only source of chance a player may use.

        Returns:
            (batch,) action ids.
        """
        ...


def choose_legally(
    player: Player,
    game: Game,
    states: States,
    seats: NDArray[np.int64],
    draws: NDArray[np.float64],
) -> NDArray[np.int64]:
    """What `player.choose` says of concealed `states`, after checking it.

    Raises:
        IllegalActionError: the rules forbid one of the actions, or there is no such action.
        ValueError: it is not one action for each state.
    """
    actions = np.asarray(player.choose(states, seats, draws), np.int64)
    if actions.shape != states.shape:
        raise ValueError(
            f"the player {player.name!r} chose actions of shape {actions.shape} "
            f"in states of shape {states.shape}"
        )
    inside = (actions >= 0) & (actions < len(game.actions))
    masks = game.legal_masks(states)
    legal = inside & (masks[np.arange(states.size), np.where(inside, actions, 0)] == 1)
    for i in np.flatnonzero(~legal)[:1]:
        reason = game.explain(states[i], int(actions[i]))
        raise IllegalActionError(f"the player {player.name!r} of seat {seats[i]}: {reason}")
    return actions


class RandomPlayer:
    """Plays uniformly at random among the legal actions."""

    def __init__(self, game: Game) -> None:
        self.name = "random"
        self._game = game

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        actions = np.empty(states.size, np.int64)
        masks = self._game.scratch_masks(states.size)
        self._game.run("random_batch", states.size, states, draws, masks, actions)
        return actions


class GreedyPlayer:
    """Plays the action that looks best one step ahead, by the game's own scripted judgement."""

    def __init__(self, game: Game) -> None:
        self.name = "greedy"
        self._game = game

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        actions = np.empty(states.size, np.int64)
        masks = self._game.scratch_masks(states.size)
        scratch = np.empty((len(masks), 1), states.dtype)
        self._game.run("greedy_batch", states.size, states, draws, masks, scratch, actions)
        return actions


class HumanPlayer:
    """A person at a terminal, who sees the board as text and types actions in notation."""

    def __init__(self, game: Game) -> None:
        self.name = "human"
        self._game = game

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return np.array([self._ask(states[i : i + 1], int(seats[i])) for i in range(states.size)])

    def _ask(self, states: States, seat: int) -> int:
        game = self._game
        print(f"\n{game.draw(states[0], seat)}")
        mask = game.legal_masks(states)[0]
        while True:
            text = input(f"player {seat}, your action (? lists them): ").strip()
            if text == "?":
                print("  ".join(game.actions.legal_texts(mask)))
                continue
            try:
                action = game.actions.id(text)
            except ValueError as error:
                print(error)
                continue
            if mask[action]:
                return action
            print(game.explain(states[0], action))


SCRIPTED: dict[str, Callable[[Game], Player]] = {
    "random": RandomPlayer,
    "greedy": GreedyPlayer,
    "human": HumanPlayer,
}


def make_player(spec: str | Path | Player, game: Game) -> Player:
    """A player from its name ("random", "greedy", "human") or from the path of a saved policy.

    A player object is returned as it is.

    Raises:
        TypeError: neither a name, a path nor a player.
        ValueError: no such player, and no such file.
        PolicyError: the file is no policy for this game, version or variant.
    """
    if isinstance(spec, Player):
        return spec
    if not isinstance(spec, str | Path):
        raise TypeError(f"a player is a name, a path or a Player, not {spec!r}")
    if spec in SCRIPTED:
        return SCRIPTED[str(spec)](game)
    if not Path(spec).exists():
        names = ", ".join(SCRIPTED)
        raise ValueError(
            f"no player {str(spec)!r}: it is neither one of {names} nor a saved policy"
        )
    from armarl.policies import load_policy

    return load_policy(spec, game)
