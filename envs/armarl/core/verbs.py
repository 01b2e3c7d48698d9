"""The contract between a game and everything above it: the verbs, and what every record has.

A game is a set of compiled functions on one fixed-size record. `Verbs` has one field for each of
them, with its arguments, what it may assume and what it must not do. Whatever stands above a game,
the faces, the loops, search and training, calls these and nothing else of it.

A *record* (`State`) is one element of an array of the game's `np.dtype`. Every record has

- `rng`, uint64: the random generator (see `armarl.randomness`), so that a state is its own future;
- `players`, any integer type: the number of seats;
- the options of the variant, which no verb writes, so that one compilation serves all variants;
- no gaps between fields: copies would leave bytes there to chance, and equal games would differ.

No verb allocates, raises, or uses a Python object; none reads or writes anything but its arguments
and constants. They trust their arguments: what comes from outside is checked at the door (`Game`).
They must hold on a CPU thread and on a GPU thread alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Mask, Observation, Returns, State, States

# What `status` says of a state; ILLEGAL is how a step may leave a game besides.
PLAYING, ENDED, CUT_SHORT, ILLEGAL = range(4)


@kernel
def trusting(s: Any, blank: Any) -> int:
    """Stands for `valid` in a game that has none: whatever is saved is taken as it is found."""
    return 0


@kernel
def unsurveyed(s: Any, seat: int, out: Any) -> None:
    """Stands for `survey` in a game that has none."""


@kernel
def undivided(s: Any, out: Any) -> None:
    """Stands for `divide` in a game that has none."""


@kernel
def unmoving(s: Any, seat: int) -> int:
    """Stands for `progress` in a game that has none."""
    return 0


class Verbs(NamedTuple):
    """The compiled functions of one game, each on one record `s`.

    Where a seat is an argument it is in [0, players). "Over" means that `status` is not PLAYING.
    """

    start: Callable[[State], None]
    """`start(s)`: deal a new game. Reads `s.rng` and the options; writes everything else anew,
    whatever was there, and moves `s.rng` on."""

    legal: Callable[[State, Mask], None]
    """`legal(s, mask)`: write 1 for every action that the seat to move may play and 0 for every
    other, into all of `mask`, int8 (actions,). At least one is 1 unless the game is over; then
    none is. Does not change `s`."""

    apply: Callable[[State, int], None]
    """`apply(s, action)`: play `action`, int64, of the seat to move, with all that follows from it
    by the rules, up to the next decision or the end. The caller knows that it is legal: what an
    illegal one does is undefined, and may reach beyond the record."""

    status: Callable[[State], int]
    """`status(s)`: PLAYING while there is a decision to take, ENDED when the rules have ended the
    game, CUT_SHORT when a limit of length has."""

    to_move: Callable[[State], int]
    """`to_move(s)`: the seat that decides next, int64; any seat when the game is over."""

    turn_of: Callable[[State], int]
    """`turn_of(s)`: the seat whose turn it is, int64: the one to move, unless that one answers or
    acts within another's turn. Any seat when the game is over."""

    observe: Callable[[State, int, Observation], None]
    """`observe(s, seat, out)`: write what the seat may know into all of `out`, float32
    (observation size,). Never depends on what the seat cannot know: for every state it writes the
    same as for the state concealed, or determinised, for that seat. Does not change `s`."""

    returns: Callable[[State, int, Returns], None]
    """`returns(s, kind, out)`: write every seat's return of a game that is over into `out`, float64
    (players,), in [-1, 1]. `kind` is a place in the game's names of rewards, the first of which is
    "win". Seats of one side get the same; those of the sides add up to 0, except in a game that
    was cut short."""

    conceal: Callable[[State, int], None]
    """`conceal(s, seat)`: take out of `s` whatever the seat is not shown, `s.rng` included, so
    that two states that differ in nothing else become the same bytes. `legal`, `observe`, `status`,
    `to_move` and `turn_of` still hold for that seat; `apply` does not."""

    determinise: Callable[[State, int, int], None]
    """`determinise(s, seat, number)`: replace all that the seat is not shown by a random deal,
    uniform over those that agree with what it is shown, and seed the future: both from `number`,
    int64. Works on a concealed state as well, with the same result. All verbs hold afterwards."""

    greedy: Callable[[State, float, Mask, States], int]
    """`greedy(s, draw, mask, scratch)`: the scripted choice of the seat to move, a legal action,
    int64. Looks at nothing that the seat is not shown. `draw` is the number of a style, 0 where the
    game has but one, plus a number in [0, 1), which settles what the judgement leaves open; `mask`
    and `scratch`, records (1,), are written over."""

    evaluate: Callable[[State, Returns], None]
    """`evaluate(s, out)`: write an estimate of every seat's "win" return into `out`, float64
    (players,), in [-1, 1], for search that is cut at a depth. `s` is not over, and nothing is
    hidden in it: it has been dealt, or determinised. Seats of one side get the same; those of the
    sides add up to 0. Does not change `s`."""

    valid: Callable[[State, State], int] = trusting
    """`valid(s, blank)`: 0 if `s`, any bytes at all, is a lawful state of the variant whose options
    the record `blank` holds, else the number of the law that it breaks, a place in the game's
    texts (`Game.faults`). What is lawful can be played to its end, and stays lawful with every
    legal action. Every state that play reaches is, and every determinised one before the end;
    concealed ones need not be. Does not change `s`."""

    survey: Callable[[State, int, Observation], None] = unsurveyed
    """`survey(s, seat, out)`: write what a judge of positions reads into all of `out`, float32
    (survey size,), the blocks of `Game.survey`: numbers worked out from what the seat may know, as
    `observe` writes what it sees, and under the same promise. A game without a survey has none of
    the policies that judge what actions lead to."""

    divide: Callable[[State, Returns], None] = undivided
    """`divide(s, out)`: write which part of each prize every seat's side took into `out`, float64
    (players, prizes), in [0, 1], when the game is over. Prizes are what the sides contend for; the
    survey's blocks on "prizes" tell of them, the first of these, "stakes", what each is worth."""

    progress: Callable[[State, int], int] = unmoving
    """`progress(s, seat)`: how far the seat has come, as all can see, int64: 0 before its first
    turn, and never less than before. Players who begin at random (`first_random`) go by it; a game
    without has none of them. Does not change `s`."""


def _unbound(*arguments: Any) -> Any:
    raise NotImplementedError(
        "a loop over games runs as `game.compiled(loop)`, with a game's verbs"
    )


verbs = Verbs(*[_unbound] * len(Verbs._fields))
"""Stands for a game's verbs in whatever is written once for every game: functions that use this
name are compiled for each game with that game's own in its place (see `armarl.binding`)."""
