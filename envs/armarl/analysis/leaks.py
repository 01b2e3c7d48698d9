"""Tests for leaks of hidden information.

Two states that differ only in information hidden from a seat must look the same to that seat, in
everything that the seat can get: observation, mask, info, reward, picture, error messages. A
difference is a leak, and `find_leaks` returns all leaks. `assert_no_leak` searches whole games for
leaks: at every position, for every seat, it redeals the hidden information and compares the views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import MOST_SEED, whole_number
from armarl.compiler.types import States
from armarl.core.game import Game, check_game
from armarl.core.verbs import PLAYING
from armarl.games.make_game import make_game
from armarl.players.simple_players import RandomPlayer

Views = Mapping[str, Any]
_ONLY = np.zeros(1, np.int64)


@dataclass(frozen=True)
class Leak:
    """A value that a seat gets and that depends on hidden information.

    Attributes:
        where: the view and the place within it, such as `observation[17]` or `describe.hands[1]`.
        one: the value in the first state.
        other: the value in the second state.
    """

    where: str
    one: Any
    other: Any

    def __str__(self) -> str:
        return f"{self.where}: {str(self.one)[:200]} or {str(self.other)[:200]}"


def find_leaks(look: Callable[[Any], Views], one: Any, other: Any) -> list[Leak]:
    """Return the differences between a seat's views of two states.

    Args:
        look: a function from a state to everything that the seat can get, by name: numbers, text,
            arrays, and lists and dictionaries of these types. See `views_of` and `views_of_env`.
        one: a state.
        other: a state that differs from `one` only in information hidden from the seat.

    Returns:
        The leaks. Each has `where`, the place of the difference, and the values `one` and `other`.
        Numbers of different types, such as 1 and 1.0, differ. NaN equals NaN.

    Example:
        >>> from armarl import find_leaks
        >>> for leak in find_leaks(lambda hand: {"cards": hand}, [1, 2], [1, 3]):
        ...     print(leak)
        cards[1]: 2 or 3
    """
    return _leaks_between(look(one), look(other))


def views_of(game: Game, states: States, seat: int) -> Views:
    """Return everything that a seat can get from a `Game` about a state.

    The views are the seat's observation and mask, its description, text and picture of the game,
    the game's status, the seat to move, and the concealed state that a player gets. If the seat is
    the one to move, the views also include the explanation of each illegal action. For a finished
    game, they also include the returns.

    Args:
        game: the variant.
        states: an array of one state.
        seat: the seat.

    Raises:
        TypeError, ValueError: `states` is not an array of one state of this variant, or the seat
            does not exist.

    Example:
        >>> from armarl import make_game, views_of
        >>> game = make_game("armadora")
        >>> list(views_of(game, game.new_states(0), seat=1))
        ['observation', 'mask', 'describe', 'text', 'picture', 'status', 'to move', 'concealed']
    """
    seats = np.array([seat])
    observations, masks = game.views(states, seats)
    statuses, movers = game.statuses(states)
    views: dict[str, Any] = {
        "observation": observations[0],
        "mask": masks[0],
        "describe": game.describe(states[0], seat),
        "text": game.draw(states[0], seat),
        "picture": game.draw_svg(states[0], seat) if game.has_picture else None,
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
    """Return everything that an agent can get from a PettingZoo AEC environment.

    Args:
        make_env: function that makes an environment with the method `load_state(bytes)`.
        state: a saved game.
        agent: the agent.
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
    """Yield every position of random games, as arrays of one state each."""
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
    """Search whole random games for leaks, from every seat.

    Args:
        game: a variant, or the name of a game with its `options`.
        games: number of games, 1 or more.
        every: distance between two checked positions, 1 or more. 1 checks all positions. The
            positions of all games are counted together.
        seed: seed of the games, an integer. The same seed repeats the games exactly.
        look: function from the game, an array of one state, and a seat to everything that the seat
            can get about the state. Default: `views_of`.
        options: options of the game, if `game` is a name.

    Returns:
        The number of compared pairs of states that differed in hidden information.

    Raises:
        AssertionError: there is a leak. The message gives its place and the values that differ.
        TypeError: `game` is not a game, an option is unknown, options are given together with a
            `Game`, or a number is not an integer.
        ValueError: no game has this name, the value of an option is wrong, or a number is out of
            range.

    Example:
        >>> from armarl import assert_no_leak
        >>> assert_no_leak("armadora", every=10) > 0
        True
    """
    if isinstance(game, str):
        game = make_game(game, **options)
    elif check_game(game, or_name=True) and options:
        raise TypeError(
            f"options are only for a game given by its name; a Game contains its options already, "
            f"so remove {', '.join(options)}"
        )
    whole_number("games", games, 1, MOST_SEED)
    whole_number("every", every, 1, MOST_SEED)
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
                    f"{game.name}: position {number} reveals hidden information to seat {seat}:\n"
                    f"{told}"
                )
    return compared


def _leaks_between(one: Views, other: Views) -> list[Leak]:
    return [leak for name in {**one, **other} for leak in _differences(name, one, other, name)]


def _differ(one: States, other: States) -> bool:
    """Return whether two states differ in more than their random number generators."""
    names = [name for name in one.dtype.names or () if name != "rng"]
    return any(not np.array_equal(one[name], other[name]) for name in names)


def _differences(where: str, one: Any, other: Any, key: Any) -> Iterator[Leak]:
    """Yield the differences between `one[key]` and `other[key]`, as precisely as possible."""
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
    elif type(one) is not type(other) or _unequal(one, other):
        yield Leak(where, one, other)


def _unequal(one: Any, other: Any) -> Any:
    """Return whether two values, or the elements of two arrays, differ. NaN equals NaN."""
    if isinstance(one, np.ndarray):
        return (one != other) & ((one == one) | (other == other))  # only NaN differs from itself
    return one != other and (one == one or other == other)


def _compare_arrays(where: str, one: NDArray[Any], other: NDArray[Any]) -> Iterator[Leak]:
    if one.shape != other.shape or one.dtype != other.dtype:
        yield Leak(where, f"{one.dtype}{one.shape}", f"{other.dtype}{other.shape}")
        return
    for at in np.argwhere(_unequal(one, other)):
        index = tuple(at.tolist())
        yield Leak(f"{where}{list(index)}", one[index], other[index])
