"""Whether anything tells a seat what it cannot know.

Two states of a game that differ only in what is secret to a seat must look the same to it, in all
that it can ever be given: observation, mask, info, reward, picture, the words of errors. What
differs is a leak, and `find_leaks` says where. `assert_no_leak` looks for them through whole games:
at every position, for every seat, what is hidden from the seat is dealt anew and looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.game import Game, check_game
from armarl.core.verbs import PLAYING
from armarl.games.make_game import make_game
from armarl.players.simple_players import RandomPlayer

Views = Mapping[str, Any]
_ONLY = np.zeros(1, np.int64)


@dataclass(frozen=True)
class Leak:
    """Something that a seat is given and that depends on what it cannot know.

    Attributes:
        where: the view, and where within it: `observation[17]`, `describe.hands[1]`.
        one, other: what it is in the two states.
    """

    where: str
    one: Any
    other: Any

    def __str__(self) -> str:
        return f"{self.where}: {str(self.one)[:200]} or {str(self.other)[:200]}"


def find_leaks(look: Callable[[Any], Views], one: Any, other: Any) -> list[Leak]:
    """What differs between two states, in all that a seat is given of them.

    Args:
        look: gives for a state, by name, everything that the seat can get: numbers, text, arrays,
            and lists and dictionaries of them. See `views_of` and `views_of_env`.
        one, other: two states that differ only in what the seat cannot know.
    """
    return _leaks_between(look(one), look(other))


def views_of(game: Game, states: States, seat: int) -> Views:
    """Everything that a seat can get of a game of ours, an array of one state.

    That is its observation and mask; its public view and picture; whose turn it is, and how the
    game stands; the concealed state that a player is given; where it is to move, the reason why
    each illegal action is illegal; and at the end the returns.
    """
    seats = np.array([seat])
    observations, masks = game.views(states, seats)
    statuses, movers = game.statuses(states)
    views: dict[str, Any] = {
        "observation": observations[0],
        "mask": masks[0],
        "describe": game.describe(states[0], seat),
        "picture": game.draw(states[0], seat),
        "status": int(statuses[0]),
        "to move": int(movers[0]),
        "concealed": game.concealed(states, seats).tobytes(),
    }
    if statuses[0] != PLAYING:
        views["returns"] = {kind: game.returns(states, _ONLY, kind)[0] for kind in game.rewards}
    elif movers[0] == seat:
        illegal = np.flatnonzero(masks[0] == 0).tolist()
        views["errors"] = {game.actions.text(a): game.explain(states[0], a) for a in illegal}
    return views


def views_of_env(make_env: Callable[[], Any], state: bytes, agent: str) -> Views:
    """Everything that an agent can get of a PettingZoo AEC environment that can load states.

    Args:
        make_env: makes the environment, which has `load_state(bytes)`.
        state: a saved game.
        agent: whose views they are.
    """
    env = make_env()
    env.reset(seed=0)
    env.load_state(state)
    observed = env.observe(agent)
    return {
        **(observed if isinstance(observed, dict) else {"observation": observed}),
        "info": env.infos[agent],
        "reward": env.rewards[agent],
        "termination": env.terminations[agent],
        "truncation": env.truncations[agent],
        "selected": env.agent_selection,
    }


def positions(game: Game, games: int, seed: int) -> Iterator[States]:
    """Every position of random games, arrays of one state each."""
    player, seeds = RandomPlayer(game), np.arange(seed, seed + games)
    states, chance = game.new_states(seeds), game.new_chance(seeds)
    while True:
        for i in range(games):
            yield game.taken(states, np.array([i]))
        running = np.flatnonzero(game.statuses(states)[0] == PLAYING)
        if running.size == 0:
            return
        game.apply(states, running, player.choose(*game.questions(states, running, chance)))


def assert_no_leak(
    game: Game | str,
    *,
    games: int = 1,
    every: int = 1,
    seed: int = 0,
    look: Callable[[Game, States, int], Views] = views_of,
    **options: Any,
) -> int:
    """Look for leaks through whole random games, from every seat.

    Args:
        game: a variant, or the name of a game with its `options`.
        games: how many.
        every: of the positions only each so many-th.
        seed: repeats them exactly.
        look: everything that a seat is given of an array of one state; by default `views_of`.

    Returns:
        How many pairs of states were compared in which something secret did differ.

    Raises:
        AssertionError: there is a leak; the message says where, and what it tells.
        TypeError: the game is none.
    """
    game = make_game(game, **options) if isinstance(game, str) else check_game(game, or_name=True)
    compared = 0
    for number, states in enumerate(positions(game, games, seed)):
        if number % every or game.statuses(states)[0][0] != PLAYING:
            continue
        for seat in range(game.players):
            dealt = game.determinised(states, np.array([seat]), np.array([seed + number]))
            compared += _differ(states, dealt)
            leaks = _leaks_between(look(game, states, seat), look(game, dealt, seat))
            if leaks:
                told = "\n".join(f"  {leak}" for leak in leaks[:20])
                raise AssertionError(
                    f"{game.name}: position {number} tells seat {seat} what it cannot know:\n{told}"
                )
    return compared


def _leaks_between(one: Views, other: Views) -> list[Leak]:
    return [leak for name in {**one, **other} for leak in _differences(name, one, other, name)]


def _differ(one: States, other: States) -> bool:
    """Whether two states differ in more than their generators."""
    names = [name for name in one.dtype.names or () if name != "rng"]
    return any(not np.array_equal(one[name], other[name]) for name in names)


def _differences(where: str, one: Any, other: Any, key: Any) -> Iterator[Leak]:
    """Where `one[key]` and `other[key]` differ, as deep as it can be told."""
    if key not in one or key not in other:
        yield Leak(where, one.get(key, "nothing"), other.get(key, "nothing"))
        return
    yield from _compare(where, one[key], other[key])


def _compare(where: str, one: Any, other: Any) -> Iterator[Leak]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            yield from _differences(f"{where}.{key}", one, other, key)
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            yield Leak(where, one, other)
            return
        for i, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _compare(f"{where}[{i}]", left, right)
    elif isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        yield from _compare_arrays(where, one, other)
    elif type(one) is not type(other) or one != other:
        yield Leak(where, one, other)


def _compare_arrays(where: str, one: NDArray[Any], other: NDArray[Any]) -> Iterator[Leak]:
    if one.shape != other.shape or one.dtype != other.dtype:
        yield Leak(where, f"{one.dtype}{one.shape}", f"{other.dtype}{other.shape}")
        return
    for at in np.argwhere(one != other):
        index = tuple(at.tolist())
        yield Leak(f"{where}{list(index)}", one[index], other[index])
