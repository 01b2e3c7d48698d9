"""The contract between a game and everything above it: the verbs and the record.

A game is a set of compiled functions on one fixed-size record. `Verbs` has one field per function.
Its docstring gives the arguments, the assumptions and the limits. The environments, the loops, the
search and the training call these functions and nothing else of a game.

A *record* (`State`) is one element of an array of the game's `np.dtype`. Every record has

- `rng`, uint64: the random number generator (see `armarl.compiler.randomness`), so that a state
  determines its own future;
- `players`, any integer type: the number of seats;
- the options of the variant, which no verb writes, so that one compilation serves all variants;
- no gaps between fields: a copy leaves the bytes of a gap undefined, so equal games would differ.

A game may have a second record, `fixed` (`Variant.fixed`), for what is the same in all games of a
variant, such as a chart. So it need not be in every state. The verbs that are called with `*fixed`
below get it as their last argument. In a game without such a record `*fixed` is empty.

A verb does not allocate, raise, or use a Python object. It reads its arguments and constants, and
writes only its arguments, but never `fixed`. It trusts its arguments: `Game` checks everything that
comes from outside. A verb must work on a CPU thread and on a GPU thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Concatenate, NamedTuple

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Mask, Observation, Returns, State, States

Fixed = tuple[State, ...]  # `*fixed`: one record, or nothing

# The values of `status`. Only a step can give ILLEGAL: its action was illegal.
PLAYING, ENDED, CUT_SHORT, ILLEGAL = range(4)


@kernel
def trusting(s: Any, blank: Any, *fixed: Any) -> int:
    """Default for `valid`, in a game that does not define it: accepts any saved state."""
    return 0


@kernel
def unsurveyed(s: Any, seat: int, out: Any, *fixed: Any) -> None:
    """Default for `survey`, in a game that does not define it."""


@kernel
def undivided(s: Any, out: Any) -> None:
    """Default for `divide`, in a game that does not define it."""


@kernel
def unmoving(s: Any, seat: int) -> int:
    """Default for `progress`, in a game that does not define it."""
    return 0


class Verbs(NamedTuple):
    """The compiled functions of one game. Each works on one record `s`.

    A seat argument is in [0, players). A game is "over" if `status` is not PLAYING.
    """

    start: Callable[Concatenate[State, ...], None]
    """`start(s, *fixed)`: deal a new game. Reads `s.rng` and the options, advances `s.rng`, and
    overwrites everything else, whatever it was before."""

    legal: Callable[Concatenate[State, Mask, ...], None]
    """`legal(s, mask, *fixed)`: write the action mask of the seat to move, 1 for each legal action
    and 0 for each other, into all of `mask`, int8 (actions,). At least one entry is 1, unless the
    game is over: then all are 0. Does not change `s`."""

    apply: Callable[Concatenate[State, int, ...], None]
    """`apply(s, action, *fixed)`: play `action`, int64, for the seat to move, and everything that
    follows by the rules, up to the next decision or the end. The caller guarantees that it is
    legal. The effect of an illegal action is undefined and may reach beyond the record."""

    status: Callable[[State], int]
    """`status(s)`: PLAYING while there is a decision to make, ENDED when the rules have ended the
    game, CUT_SHORT when a length limit has ended it."""

    to_move: Callable[[State], int]
    """`to_move(s)`: the seat that decides next, int64. Any seat when the game is over."""

    turn_of: Callable[[State], int]
    """`turn_of(s)`: the seat whose turn it is, int64. This is the seat to move, unless that seat
    answers or acts within another seat's turn. Any seat when the game is over."""

    observe: Callable[Concatenate[State, int, Observation, ...], None]
    """`observe(s, seat, out, *fixed)`: write the observation of a seat into all of `out`, float32
    (observation size,). It never depends on what the seat cannot know: for every state the result
    is the same as for that state concealed, or determinised, for that seat. Does not change `s`."""

    returns: Callable[[State, int, Returns], None]
    """`returns(s, kind, out)`: write every seat's return of a game that is over into `out`, float64
    (players,), in [-1, 1]. `kind` is an index into `Game.rewards`; the first is "win". Seats of one
    side get the same return. The returns of the sides add up to 0, except in a game that was cut
    short."""

    conceal: Callable[[State, int], None]
    """`conceal(s, seat)`: erase from `s` all that the seat is not shown, including `s.rng`. Two
    states that differ only in this become the same bytes. `legal`, `observe`, `status`, `to_move`
    and `turn_of` still work for that seat; `apply` does not."""

    determinise: Callable[[State, int, int], None]
    """`determinise(s, seat, number)`: replace all that the seat is not shown with a random deal,
    uniform over the deals that agree with what it is shown, and seed `s.rng`. Both follow from
    `number`, int64. Gives the same result on a concealed state. All verbs work afterwards."""

    greedy: Callable[Concatenate[State, float, Mask, States, ...], int]
    """`greedy(s, draw, mask, scratch, *fixed)`: the scripted choice of the seat to move, a legal
    action, int64. Does not use anything that the seat is not shown. `draw` is the number of a style
    (0 if the game has only one) plus a number in [0, 1) that breaks ties. `mask` and `scratch`,
    records (1,) of the type `Variant.scratch`, are overwritten."""

    evaluate: Callable[Concatenate[State, Returns, ...], None]
    """`evaluate(s, out, *fixed)`: write an estimate of every seat's "win" return into `out`,
    float64 (players,), in [-1, 1], for search with a depth limit. `s` is not over and not
    concealed: it was dealt or determinised. Seats of one side get the same estimate. The estimates
    of the sides add up to 0. Does not change `s`."""

    valid: Callable[Concatenate[State, State, ...], int] = trusting
    """`valid(s, blank, *fixed)`: 0 if `s`, which may hold any bytes, is a valid state of the
    variant whose options are in the record `blank`. Otherwise the number of the first fault, an
    index into `Game.faults`. A valid state can be played to its end and stays valid with every
    legal action. Every state that play reaches is valid, and so is every determinised one before
    the end. A concealed state need not be. Does not change `s`."""

    survey: Callable[Concatenate[State, int, Observation, ...], None] = unsurveyed
    """`survey(s, seat, out, *fixed)`: write the input of a judge of positions into all of `out`,
    float32 (survey size,), in the blocks of `Game.survey`. The numbers are computed from what the
    seat may know, with the same guarantee as for `observe`. Policies that judge the positions after
    each action need a game with a survey."""

    divide: Callable[[State, Returns], None] = undivided
    """`divide(s, out)`: when the game is over, write the part of each prize that every seat's side
    took into `out`, float64 (players, prizes), in [0, 1]. The sides compete for the prizes. The
    survey's blocks on "prizes" describe them; the first of these blocks, "stakes", holds the value
    of each."""

    progress: Callable[[State, int], int] = unmoving
    """`progress(s, seat)`: the publicly visible progress of a seat, int64: 0 before its first turn,
    and it never decreases. Players with a random opening (`first_random`) use it; a game without
    this verb does not offer them. Does not change `s`."""


@cache
def takes_fixed(function: Callable[..., Any]) -> bool:
    """Tell if a function has a parameter `fixed`, the tuple or the record of that name."""
    code = function.__code__
    return "fixed" in code.co_varnames[: code.co_argcount]


def _unbound(*arguments: Any) -> Any:
    raise NotImplementedError(
        "this loop needs the verbs of a game; run `game.compiled(loop)` instead"
    )


verbs = Verbs(*[_unbound] * len(Verbs._fields))
"""Placeholder for a game's verbs in functions that are written once for all games. Such a function
is compiled once per game, with the game's own verbs in place of this name (see
`armarl.core.binding`)."""
