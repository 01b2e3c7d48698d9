"""The `Player` protocol, and the checks of every choice that a player makes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.compiler.types import States
from armarl.core.array_checks import check_array, check_size
from armarl.core.errors import IllegalActionError
from armarl.core.state_checks import check_seats
from armarl.core.variant import Variant
from armarl.core.verbs import PLAYING

if TYPE_CHECKING:
    from armarl.core.game import Game

_MOST_AROUND = 100  # maximum depth of nested wrappers


@runtime_checkable
class Player(Protocol):
    """The interface of every player: scripted, learnt, searching or human.

    A player is a pure function of the information that its seat may see and of one random number
    per decision. It gets concealed states, so it cannot use hidden information. It keeps no memory
    and has no random number generator. Therefore the same seed repeats a game, whether the game is
    played separately or in a batch.

    Attributes:
        name: name in tables and records.
        game: optional. The variant for which the player was made. The player cannot be used in a
            match of another variant.

    Example:
        >>> from armarl import Player, make_game, make_player
        >>> isinstance(make_player("greedy", make_game("armadora")), Player)
        True
    """

    name: str

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Choose a legal action in each state.

        Args:
            states: states, shape (batch,). `states[i]` is concealed for the seat `seats[i]`.
            seats: the seat to move in each state, int64, shape (batch,).
            draws: random numbers in [0, 1), float64, shape (batch,). They are the only source of
                randomness that a player may use.

        Returns:
            Action ids, integers, shape (batch,).
        """
        ...


class Thoughts(NamedTuple):
    """A player's evaluation of a batch of states. A field that the player does not report is None.

    Attributes:
        probabilities: the player's distribution over actions, float64, shape (batch, actions). A
            row sums to 1, or is all 0 if it is not the seat's turn. The player may sample from the
            distribution or play the most likely action. Saved policies play the most likely action
            unless `sample` is set.
        values: expected return of each action, float64, shape (batch, actions). NaN for an action
            without an estimate.
        visits: number of times that a search tried each action, int64, shape (batch, actions).
        value: expected return of the seat, float64, shape (batch,). It may be an estimate even
            after the end of the game.

    Example:
        >>> import numpy as np
        >>> from armarl import Thoughts
        >>> Thoughts(probabilities=np.array([[0.25, 0.75]])).visits is None
        True
    """

    probabilities: NDArray[np.float64] | None = None
    values: NDArray[np.float64] | None = None
    visits: NDArray[np.int64] | None = None
    value: NDArray[np.float64] | None = None


@runtime_checkable
class Thinker(Player, Protocol):
    """A player that can also report its evaluation of a position."""

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Return the player's thoughts. The arguments are those of `choose`."""
        ...


def choose_legally(
    player: Player,
    game: Game,
    states: States,
    seats: NDArray[np.int64],
    draws: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Ask a player for its actions in concealed states, and check that they are legal.

    The player gets copies of the arrays. Its answer is also copied, and checked against masks that
    were made before the call. A player that writes to an array therefore changes neither the game
    nor the masks.

    Args:
        player: the player to ask.
        game: the variant that is played.
        states: states, shape (batch,), each concealed for its seat (`Game.concealed`).
        seats: the seat to move in each state, int64, shape (batch,).
        draws: a random number in [0, 1) for each state, float64, shape (batch,).

    Returns:
        Legal action ids, int64, shape (batch,).

    Raises:
        IllegalActionError: the player chose an action that is illegal or does not exist.
        ValueError: the answer does not have one action per state, the player was made for another
            variant, or the states are of another variant.
        TypeError: `player` is not a player (`make_player` makes one from its name), `game` is not
            a `Game`, `states` is not an array of its records, or the actions are not integers.
        RuntimeError: the player tried to end the program, or raised StopIteration.
        Exception: any other error that the player raises, with a note that names the player.

    Example:
        >>> import numpy as np
        >>> from armarl import choose_legally, make_game, make_player
        >>> game = make_game("armadora")
        >>> states, seats = game.new_states(np.arange(3)), np.zeros(3, np.int64)
        >>> seen, player = game.concealed(states, seats), make_player("random", game)
        >>> choose_legally(player, game, seen, seats, np.zeros(3)).shape
        (3,)
    """
    if isinstance(player, type) or not hasattr(player, "choose"):
        raise TypeError(
            'player must be a player, such as make_player("greedy", game), '
            f"not {brief(repr(player), 60)}"
        )
    if not isinstance(game, Variant):  # not `check_game`, because `Game` is imported only for types
        raise TypeError(
            f'game must be a Game, such as make_game("armadora"), not {brief(repr(game), 60)}'
        )
    check_variant(player, game)
    masks = game.legal_masks(states)
    shown = game.taken(states, np.arange(states.size))
    with _asking(player):
        answer = player.choose(shown, seats.copy(), draws.copy())
        chosen = np.array(np.asarray(answer))  # a copy: the player may keep and change its array
    if answer is None:
        raise TypeError(
            f"the player {player.name!r} returned None; choose must return an array of action ids"
        )
    if chosen.shape != states.shape:
        raise ValueError(
            f"the player {player.name!r} returned actions of shape {chosen.shape}; choose must "
            f"return one action per state, shape {states.shape}"
        )
    if chosen.dtype.kind not in "iu":
        raise TypeError(
            f"the player {player.name!r} returned actions of type {chosen.dtype}; action ids must "
            "be integers"
        )
    inside = (chosen >= 0) & (chosen < len(game.actions))
    legal = inside & (masks[np.arange(states.size), np.where(inside, chosen, 0)] == 1)
    for i in np.flatnonzero(~legal)[:1]:
        reason = game.explain(states[i], int(chosen[i]))
        raise IllegalActionError(f"the player {player.name!r} of seat {seats[i]}: {reason}")
    return chosen.astype(np.int64)


def check_player(found: object, said: str) -> Player:
    """Check that an object is a player, and return it.

    Args:
        found: the object.
        said: the name of the object in error messages.

    Raises:
        TypeError: the object is not a player. The message names the missing part.
    """
    if isinstance(found, type):
        raise TypeError(
            f"{said} is a class, not a player; pass an instance of the class, or its name "
            f"{found.__module__}:{found.__name__}"
        )
    choose = getattr(found, "choose", None)
    if not callable(choose):
        raise TypeError(
            f"{said} is {_article(found)}, not a player; a player has a method choose(states, "
            "seats, draws)"
        )
    if not _takes_a_question(choose):
        raise TypeError(
            f"{said} is not a player: its method choose must take (states, seats, draws); "
            "to get observations and masks, it can call game.views(states, seats)"
        )
    with no_exit(said):
        name = getattr(found, "name", None)
    if not isinstance(name, str):
        lacks = "it has no `name`" if name is None else f"its `name` is {_article(name)}"
        raise TypeError(f"{said} is not a player: {lacks}; a player has a `name` of type str")
    return cast("Player", found)


def _takes_a_question(choose: Callable[..., object]) -> bool:
    """Return whether a function takes 3 positional arguments, or True if Python cannot tell."""
    try:
        inspect.signature(choose).bind(None, None, None)
    except TypeError:
        return False
    except ValueError:  # some compiled functions have no readable signature
        return True
    return True


def _article(found: object) -> str:
    return "None" if found is None else f"of type {type(found).__name__}"


@contextmanager
def no_exit(said: str) -> Iterator[None]:
    """Turn `SystemExit` and `StopIteration` of user code into errors.

    Otherwise user code could end the program or one of its loops, and the run would seem to be
    successful.

    Raises:
        RuntimeError: the user code called `exit` or raised StopIteration.
    """
    try:
        yield
    except SystemExit as error:
        code = "" if error.code is None else brief(error.code, 60)
        raise RuntimeError(f"{said} tried to end the program: exit({code})") from error
    except StopIteration as error:
        told = RuntimeError(f"{said} raised StopIteration: next() was called on an empty iterator")
        # Without `from None`, contextlib would raise the StopIteration instead of this error.
        raise told.with_traceback(error.__traceback__) from None


@contextmanager
def _asking(player: Player) -> Iterator[None]:
    """Add a note to errors in a player's methods: the player's name, and the file and line."""
    try:
        with no_exit(f"the player {player.name!r}"):
            yield
    except Exception as error:
        where = place_of(error, type(player).__module__)
        error.add_note(f"(while asking the player {player.name!r}{where})")
        raise


def place_of(error: Exception, module: str) -> str:
    """Return the place of the last line of user code in an error's traceback, for a message.

    Return an empty string if `module` belongs to ArmaRL.

    Args:
        error: the error.
        module: the user's module. Lines of its package count as user code.
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
    """Ask a player for its thoughts on concealed states, and check them.

    The player gets copies of the arrays. Its answer is also copied, because the player may change
    its own arrays later.

    Raises:
        TypeError: the answer is not `Thoughts`, or a field does not contain numbers.
        ValueError: a field has the wrong shape.
    """
    shown = game.taken(states, np.arange(states.size))
    fields: dict[str, NDArray[Any] | None] = {}
    with _asking(player):
        answer = player.think(shown, seats.copy(), draws.copy())
        if not isinstance(answer, Thoughts):
            raise TypeError(f"think must return Thoughts, not {brief(type(answer).__name__, 60)}")
        for name, field in zip(Thoughts._fields, answer, strict=True):
            fields[name] = None if field is None else np.array(np.asarray(field))
    for name, found in fields.items():
        if found is None:
            continue
        shape = states.shape if name == "value" else (states.size, len(game.actions))
        if found.dtype.kind not in "fiu":
            raise TypeError(
                f"the {name} in the thoughts of {player.name!r} must be numbers, not {found.dtype}"
            )
        if found.shape != shape:
            raise ValueError(
                f"the {name} in the thoughts of {player.name!r} must have shape {shape}, "
                f"not {found.shape}"
            )
    return Thoughts(**fields)


def digest_of(player: Player) -> str | None:
    """Return a digest of the weights of a player or of the player that it wraps.

    Saved policies and ONNX players have a method `weights_digest`, which returns the digest. If a
    player has no such method, the result is None.
    """
    for found in everybody(player):
        if callable(digest := getattr(found, "weights_digest", None)):
            with no_exit(f"weights_digest() of {player.name!r}"):
                said = digest()
            return said if isinstance(said, str) else None
    return None


def everybody(player: Player) -> Iterator[object]:
    """Yield a player, then the players that it wraps (its attribute `player`), innermost last."""
    found: object = player
    for _ in range(_MOST_AROUND):
        if found is None:
            return
        yield found
        found = getattr(found, "player", None)


def check_variant(player: Player, game: Game) -> None:
    """Raise a ValueError if a player was made for a variant other than `game`."""
    own = getattr(player, "game", game)
    if own is not game and isinstance(own, Variant) and own.variant != game.variant:
        raise ValueError(
            f"the player {player.name!r} was made for {_variant_name(own)}, but this game is "
            f"{_variant_name(game)}"
        )


def _variant_name(game: Variant) -> str:
    options = "".join(f", {name}={value}" for name, value in game.options.items())
    return f"{game.name} with {game.players} players{options}"


def check_question(
    game: Game, states: Any, seats: Any, draws: Any
) -> tuple[States, NDArray[np.int64], NDArray[np.float64]]:
    """Check the arguments of `Player.choose`: states, and a seat and a draw for each state.

    Returns:
        The checked arguments, to use instead of the originals: a view of the states as a plain
        array, and copies of the seats and draws.

    Raises:
        TypeError, ValueError: an array has the wrong type or size, or a value is out of range.
    """
    states, seats = check_seats(game, states, seats)
    draws = check_array("draws", draws, np.float64).copy()
    check_size("draws", draws, states.size)
    if draws.size and not (draws.min() >= 0 and draws.max() < 1):
        raise ValueError(f"draws must be in [0, 1), not from {draws.min()} to {draws.max()}")
    return states, seats, draws


def check_movers(game: Game, states: States, seats: NDArray[np.int64]) -> None:
    """Raise a ValueError if, in a game that is not over, `seats[i]` is not the seat to move."""
    statuses, movers = game.statuses(states)
    wrong = np.flatnonzero((statuses == PLAYING) & (seats != movers))
    if wrong.size:
        i = wrong[0]
        raise ValueError(f"in state {i}, seat {movers[i]} is to move, not seat {seats[i]}")
