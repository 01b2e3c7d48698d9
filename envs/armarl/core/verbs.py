"""The contract between a game and all code that uses it: the verbs and the record.

A game is a set of compiled functions on one fixed-size record. `Verbs` has one field per function.
The docstring of the field gives the arguments, the assumptions and the limits. The environments,
the loops, the search and the training call no other functions of a game.

A *record* (`State`) is one element of an array of the game's `np.dtype`. Every record has

- `rng`, uint64: the random number generator (see `armarl.compiler.randomness`), so that a state
  determines its own future;
- `players`, any integer type: the number of seats;
- the options of the variant, which no verb writes, so that one compilation serves all variants;
- no gaps between fields. A copy leaves the bytes of a gap undefined, so the bytes of equal games
  could differ.

A game may have a second record, `fixed` (`Variant.fixed`), for data that all games of a variant
share, such as the borders on the board. The states then need not contain this data. The verbs that
are called with `*fixed` below get the record `fixed` as their last argument. In a game without such
a record `*fixed` is empty.

A verb does not allocate, raise, or use a Python object. It reads only its arguments and constants.
It writes only to its arguments, and never to `fixed`. It trusts its arguments: `Game` checks
the arguments of its methods, and `Game.check_states` checks untrusted states. A verb must work on a
CPU thread and on a GPU thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Concatenate, NamedTuple

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Mask, Observation, Returns, State, States

Fixed = tuple[State, ...]  # `*fixed`: a tuple with one record, or an empty tuple

# The values of `status`, and ILLEGAL, which is only the result of a step with an illegal action.
PLAYING, ENDED, CUT_SHORT, ILLEGAL = range(4)


@kernel
def trusting(s: Any, blank: Any, *fixed: Any) -> int:
    """Accept any saved state: the default of `valid` in a game that does not define it."""
    return 0


@kernel
def unsurveyed(s: Any, seat: int, out: Any, *fixed: Any) -> None:
    """Do nothing: the default of `survey` in a game that does not define it."""


@kernel
def undivided(s: Any, out: Any) -> None:
    """Do nothing: the default of `divide` in a game that does not define it."""


@kernel
def unmoving(s: Any, seat: int) -> int:
    """Return 0: the default of `progress` in a game that does not define it."""
    return 0


class Verbs(NamedTuple):
    """The compiled functions of one game. Each works on one record `s`.

    A seat argument is in [0, players). A game is "over" if `status` is not PLAYING.
    """

    start: Callable[Concatenate[State, ...], None]
    """`start(s, *fixed)`: deal a new game. Reads `s.rng` and the options, advances `s.rng`, and
    overwrites everything else. The old contents of the overwritten fields do not matter."""

    legal: Callable[Concatenate[State, Mask, ...], None]
    """`legal(s, mask, *fixed)`: write the action mask of the seat to move into all of `mask`, int8
    (actions,): 1 for each legal action and 0 for each other action. At least one entry is 1, unless
    the game is over. Then all entries are 0. Does not change `s`."""

    apply: Callable[Concatenate[State, int, ...], None]
    """`apply(s, action, *fixed)`: play `action`, int64, for the seat to move, and everything that
    follows by the rules, up to the next decision or the end. The caller guarantees that the action
    is legal. An illegal action has undefined effects, even on memory outside the record."""

    status: Callable[[State], int]
    """`status(s)`: PLAYING while there is a decision to make, ENDED when the rules have ended the
    game, CUT_SHORT when a length limit has ended it."""

    to_move: Callable[[State], int]
    """`to_move(s)`: the seat that decides next, int64. If the game is over, it may be any seat."""

    turn_of: Callable[[State], int]
    """`turn_of(s)`: the seat whose turn it is, int64. This is the seat to move, unless that seat
    answers or acts within another seat's turn. If the game is over, it may be any seat."""

    observe: Callable[Concatenate[State, int, Observation, ...], None]
    """`observe(s, seat, out, *fixed)`: write the observation of a seat into all of `out`, float32
    (observation size,). It never depends on information that is hidden from the seat: a state, the
    state concealed for the seat, and the state determinised for the seat give the same observation.
    Does not change `s`."""

    returns: Callable[[State, int, Returns], None]
    """`returns(s, kind, out)`: write every seat's return into `out`, float64 (players,), in
    [-1, 1]. The game is over. `kind` is an index into `Game.rewards`; the first reward is "win".
    Seats of one side get the same return. The returns of the sides add up to 0, except in a game
    that was cut short."""

    conceal: Callable[[State, int], None]
    """`conceal(s, seat)`: erase from `s` all information that the seat is not shown, including
    `s.rng`. Two states that differ only in this information become equal, byte for byte. `legal`,
    `observe`, `status`, `to_move` and `turn_of` still work for that seat; `apply` does not."""

    determinise: Callable[[State, int, int], None]
    """`determinise(s, seat, number)`: replace all information that the seat is not shown with a
    random deal, and seed `s.rng`. The deal is uniform over the deals that agree with the
    information that the seat is shown. `number`, int64, determines the deal and the seed. A state
    and the state concealed for the seat give the same result. All verbs work afterwards."""

    greedy: Callable[Concatenate[State, float, Mask, States, ...], int]
    """`greedy(s, draw, mask, scratch, *fixed)`: the scripted choice of the seat to move, a legal
    action, int64. Does not use anything that the seat is not shown. `draw` is the number of a
    playing style (0 if the game has only one) plus a number in [0, 1) that breaks ties. Overwrites
    `mask` and `scratch`, an array (1,) of the record type `Variant.scratch`."""

    evaluate: Callable[Concatenate[State, Returns, ...], None]
    """`evaluate(s, out, *fixed)`: write an estimate of every seat's "win" return into `out`,
    float64 (players,), in [-1, 1], for search with a depth limit. The game is not over, and `s` is
    not a concealed state. Seats of one side get the same estimate. The estimates of the sides add
    up to 0. Does not change `s`."""

    valid: Callable[Concatenate[State, State, ...], int] = trusting
    """`valid(s, blank, *fixed)`: 0 if `s`, which may contain any bytes, is a valid state of the
    variant whose options are in the record `blank`. Otherwise the number of the first error found,
    an index into `Game.faults`. A valid state can be played to its end and stays valid with every
    legal action. Every state that legal play reaches is valid, and so is every determinised state
    of a game that is not over. A concealed state need not be valid. Does not change `s`."""

    survey: Callable[Concatenate[State, int, Observation, ...], None] = unsurveyed
    """`survey(s, seat, out, *fixed)`: write the input of a judge (a value network) into all of
    `out`, float32 (survey size,), in the blocks of `Game.survey`. As in `observe`, the numbers
    never depend on information that is hidden from the seat. Policies that evaluate the positions
    after each legal action need a game with this verb."""

    divide: Callable[[State, Returns], None] = undivided
    """`divide(s, out)`: write into `out`, float64 (players, prizes), the share of each prize that
    each seat's side took, in [0, 1]. The game is over. A prize is a thing for which the sides
    compete, such as a gold mine in Armadora. The blocks of the survey with `on="prizes"` describe
    the prizes. The first of these blocks, "stakes", contains the value of each prize."""

    progress: Callable[[State, int], int] = unmoving
    """`progress(s, seat)`: a publicly visible number, int64, that tells how far a seat has
    progressed. It is 0 before the seat's first turn and never decreases. A player with a random
    opening plays at random while the number is below its `first_random`. A game without this verb
    does not offer such players. Does not change `s`."""


@cache
def takes_fixed(function: Callable[..., Any]) -> bool:
    """Return whether a function has a parameter named `fixed`, which is a tuple or a record."""
    code = function.__code__
    return "fixed" in code.co_varnames[: code.co_argcount]


def _unbound(*arguments: Any) -> Any:
    raise NotImplementedError(
        "this loop needs the verbs of a game; run `game.compiled(loop)` instead"
    )


verbs = Verbs(*[_unbound] * len(Verbs._fields))
"""A placeholder for a game's verbs in functions that all games share. Such a function is compiled
once per game, with the game's own verbs in place of this name (see `armarl.core.binding`)."""
