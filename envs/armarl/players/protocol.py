"""What a player is, and the guard around every choice of his."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.compiler.types import States
from armarl.core.array_checks import check_array, check_size
from armarl.core.game import Game, IllegalActionError
from armarl.core.state_checks import check_seats
from armarl.core.verbs import PLAYING

_MOST_AROUND = 100  # players put around one another


@runtime_checkable
class Player(Protocol):
    """The interface of every player: scripted, learnt, searching or human.

    A player who was made for one variant has it in an attribute `game`; in another he is refused.
    """

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


class Thoughts(NamedTuple):
    """What a player thought of a batch of states; None stands for what he does not consider.

    Attributes:
        probabilities: (batch, actions) float64, how he spreads over the actions; they sum to 1, or
            are 0 throughout where the seat is not to move. Whether he draws from them or plays the
            likeliest, as saved policies do unless told to `sample`, they do not say.
        values: (batch, actions) float64, the return he expects of each action; NaN: no opinion.
        visits: (batch, actions) int64, how often a search tried each action.
        value: (batch,) float64, the return that he expects for the seat; where the game is over it
            may be an estimate still.
    """

    probabilities: NDArray[np.float64] | None = None
    values: NDArray[np.float64] | None = None
    visits: NDArray[np.int64] | None = None
    value: NDArray[np.float64] | None = None


@runtime_checkable
class Thinker(Player, Protocol):
    """A player who tells what he thinks, to those who show it."""

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """What he thinks of states in which `choose` would be asked, with the same arguments."""
        ...


def choose_legally(
    player: Player,
    game: Game,
    states: States,
    seats: NDArray[np.int64],
    draws: NDArray[np.float64],
) -> NDArray[np.int64]:
    """What `player.choose` says of concealed `states`, after checking it.

    He gets copies, and what he returns is copied and checked by what was legal before he was asked:
    nothing that he writes into changes the game, or what he is allowed.

    Raises:
        IllegalActionError: the rules forbid one of the actions, or there is no such action.
        ValueError: it is not one action for each state, or he plays another variant.
        TypeError: the actions are no integers.
        RuntimeError: he tried to end the program.
    """
    check_variant(player, game)
    masks = game.legal_masks(states)
    shown = game.taken(states, np.arange(states.size))
    with _asking(player):
        answer = player.choose(shown, seats.copy(), draws.copy())
        chosen = np.array(np.asarray(answer))  # of what he keeps: of his own object it might be he
    if answer is None:
        raise TypeError(f"the player {player.name!r} has returned None: does choose lack a return?")
    if chosen.shape != states.shape:
        raise ValueError(
            f"the player {player.name!r} chose actions of shape {chosen.shape} "
            f"in states of shape {states.shape}"
        )
    if chosen.dtype.kind not in "iu":
        raise TypeError(f"the player {player.name!r} chose {chosen.dtype}s: actions are integers")
    inside = (chosen >= 0) & (chosen < len(game.actions))
    legal = inside & (masks[np.arange(states.size), np.where(inside, chosen, 0)] == 1)
    for i in np.flatnonzero(~legal)[:1]:
        reason = game.explain(states[i], int(chosen[i]))
        raise IllegalActionError(f"the player {player.name!r} of seat {seats[i]}: {reason}")
    return chosen.astype(np.int64)


def check_player(found: object, said: str) -> Player:
    """What somebody gives as a player, if it is one; `said` is what it is called in the error.

    Raises:
        TypeError: it is none; the message says what it lacks.
    """
    if isinstance(found, type):
        raise TypeError(
            f"{said} is a class, not a player: give one of its instances, or name it as "
            f"{found.__module__}:{found.__name__}"
        )
    choose = getattr(found, "choose", None)
    if not callable(choose):
        raise TypeError(
            f"{said} is {_article(found)}, not a player: it has no choose(states, seats, draws)"
        )
    if not _takes_a_question(choose):
        raise TypeError(
            f"{said} is no player yet: its choose does not take (states, seats, draws), with which "
            "it is called; game.views(states, seats) makes observations and masks of them"
        )
    with no_exit(said):
        name = getattr(found, "name", None)
    if not isinstance(name, str):
        lacks = "it has no `name`" if name is None else f"its `name` is {_article(name)}"
        raise TypeError(f"{said} is no player yet: {lacks}, which is the text that tables show")
    return cast("Player", found)


def _takes_a_question(choose: Callable[..., object]) -> bool:
    """Whether it can be called with three arguments, as far as Python can tell."""
    try:
        inspect.signature(choose).bind(None, None, None)
    except TypeError:
        return False
    except ValueError:  # of what is not written in Python
        return True
    return True


def _article(found: object) -> str:
    return "None" if found is None else f"of type {type(found).__name__}"


@contextmanager
def no_exit(said: str) -> Iterator[None]:
    """Code of a stranger in which to exit, or to stop a loop of ours, is an error: else all seemed
    to have gone well.

    Raises:
        RuntimeError: it exited, or raised StopIteration.
    """
    try:
        yield
    except SystemExit as error:
        code = "" if error.code is None else brief(error.code, 60)
        raise RuntimeError(f"{said} tried to end the program: exit({code})") from error
    except StopIteration as error:
        told = RuntimeError(f"{said} raised StopIteration: next() of what has no more")
        # Without a cause: contextlib takes an error whose cause is this for one of Python's own.
        raise told.with_traceback(error.__traceback__) from None


@contextmanager
def _asking(player: Player) -> Iterator[None]:
    """Whatever goes wrong where a player is asked is told of with his name."""
    try:
        with no_exit(f"the player {player.name!r}"):
            yield
    except Exception as error:
        where = place_of(error, type(player).__module__)
        error.add_note(f"(the player {player.name!r} had been asked{where})")
        raise


def place_of(error: Exception, module: str) -> str:
    """Where in the code of a stranger an error came up, as the end of a sentence: the last line in
    the package of this module; nothing of our own.
    """
    package = module.partition(".")[0]
    places = [
        f"; {frame.f_code.co_filename}, line {line}, in {frame.f_code.co_qualname}"
        for frame, line in walk_tb((error.__cause__ or error).__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package
    ]
    return places[-1] if places and package not in ("armarl", "armarl_training") else ""


def ask_thoughts(
    player: Thinker,
    game: Game,
    states: States,
    seats: NDArray[np.int64],
    draws: NDArray[np.float64],
) -> Thoughts:
    """What `player.think` says of concealed `states`; as in `choose_legally` he gets copies."""
    shown = game.taken(states, np.arange(states.size))
    with _asking(player):
        return player.think(shown, seats.copy(), draws.copy())


def digest_of(player: Player) -> str | None:
    """By what the weights of a player are known again, or of the one whom he is put around.

    They are asked for it by `weights_digest()`, which saved policies and ONNX players have. None of
    who has no weights.
    """
    for found in everybody(player):
        if callable(digest := getattr(found, "weights_digest", None)):
            with no_exit(f"weights_digest() of {player.name!r}"):
                said = digest()
            return said if isinstance(said, str) else None
    return None


def everybody(player: Player) -> Iterator[object]:
    """A player, and inwards those whom he is put around: the attribute `player` of each."""
    found: object = player
    for _ in range(_MOST_AROUND):
        if found is None:
            return
        yield found
        found = getattr(found, "player", None)


def check_variant(player: Player, game: Game) -> None:
    """Raise ValueError if a player was made for another variant than `game`."""
    own = getattr(player, "game", game)
    if own is not game and isinstance(own, Game) and own.variant != game.variant:
        raise ValueError(
            f"the player {player.name!r} was made for {_variant_name(own)}; "
            f"this is {_variant_name(game)}"
        )


def _variant_name(game: Game) -> str:
    options = "".join(f", {name}={value}" for name, value in game.options.items())
    return f"{game.name} with {game.players} players{options}"


def check_question(game: Game, states: Any, seats: Any, draws: Any) -> None:
    """Check what `Player.choose` takes: states, and for each a seat and a draw in [0, 1).

    Raises:
        TypeError, ValueError: arrays of other types or sizes, or out of range.
    """
    check_seats(game, states, seats)
    check_array("draws", draws, np.float64)
    check_size("draws", draws, states.size)
    if draws.size and not (draws.min() >= 0 and draws.max() < 1):
        raise ValueError("draws must be in [0, 1)")


def check_movers(game: Game, states: States, seats: NDArray[np.int64]) -> None:
    """Raise ValueError unless every seat is the one to move, in games that are not over."""
    statuses, movers = game.statuses(states)
    wrong = np.flatnonzero((statuses == PLAYING) & (seats != movers))
    if wrong.size:
        i = wrong[0]
        raise ValueError(f"seat {seats[i]} is asked in state {i}, where {movers[i]} is to move")
