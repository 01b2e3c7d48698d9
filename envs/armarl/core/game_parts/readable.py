"""`Readable`: states in readable form, which is JSON types, text, a picture or sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from armarl.common.messages import brief
from armarl.common.numbers import whole_number
from armarl.compiler.types import State, States
from armarl.core import state_checks
from armarl.core.pictures.picture import Picture, Scene, Told
from armarl.core.variant import Variant

if TYPE_CHECKING:
    from typing import Self

_KEPT = 32  # maximum number of descriptions in the cache


@dataclass(frozen=True, eq=False, kw_only=True)
class Readable(Variant):
    """A variant whose states can be shown to people, either in full or as one seat sees them.

    A game provides a function that describes a state, and one that draws it as text. Optional
    functions draw a picture, put an action and its effects into words, and sum up a turn.
    """

    _describe: Callable[[Self, State, int | None], dict[str, Any]] = field(repr=False)
    _draw: Callable[[Self, State, int | None], str] = field(repr=False)
    _picture: Callable[[Scene], Picture] | None = field(default=None, repr=False)
    _tell: Callable[[Scene], Told] | None = field(default=None, repr=False)
    _sum_up: Callable[[Sequence[Scene]], str] | None = field(default=None, repr=False)

    def describe(
        self, state: State, seat: int | None = None, *, public: bool = False
    ) -> dict[str, Any]:
        """Return a state as plain JSON types. Everything that `seat` may not know is None.

        Check an untrusted state (from a file or another program) with `check_states` first.

        Args:
            state: one record.
            seat: a seat, or None for the whole state.
            public: describe only what every seat may know, as an onlooker sees it. `seat` must then
                be None.

        Raises:
            TypeError, ValueError: `state` is not a state of this variant, the seat does not exist,
                or a seat is given with `public`.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora", board="mini")
            >>> state = game.new_states(0)[0]
            >>> game.describe(state, seat=0)["hands"][1] is None  # the opponent's hand
            True
        """
        if public:
            if seat is not None:
                raise ValueError(f"with public=True, seat must be None, not {seat!r}")
            views = [self.describe(state, one) for one in range(self.players)]
            common: dict[str, Any] = _in_common(views)
            return common
        return self._describe(self, self._check_state(state)[0], self._check_seat(seat))

    def draw(self, state: State, seat: int | None = None) -> str:
        """Return a state as text, whole or as a seat sees it.

        Check an untrusted state (from a file or another program) with `check_states` first.

        Args:
            state: one record.
            seat: a seat, or None for the whole state.

        Raises:
            TypeError, ValueError: as in `describe`.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora", board="mini")
            >>> print(game.draw(game.new_states(0)[0]).splitlines()[2])
            1 |  .      .   #  .     (3)  #                           |
        """
        return self._draw(self, self._check_state(state)[0], self._check_seat(seat))

    @property
    def has_picture(self) -> bool:
        """Whether the game can draw pictures."""
        return self._picture is not None

    def picture(
        self,
        state: State,
        seat: int | None = None,
        *,
        before: State | None = None,
        last: tuple[int, int] | None = None,
        names: Sequence[str] | None = None,
        public: bool = False,
    ) -> Picture:
        """Return a drawing of a state, whole or as a seat sees it.

        The state is drawn only from `describe(state, seat)`, so nothing else is shown. The picture
        can be converted to SVG, PNG and pixels, and a notebook shows it. Check an untrusted state
        (from a file or another program) with `check_states` first.

        Args:
            state: one record.
            seat: a seat, or None for the whole state.
            before: an earlier state of the same game. Everything that has changed since is marked.
            last: the last action: the seat that played it, and its id. If `seat` is another seat,
                only the public notation of the action is shown.
            names: a name for each player, by seat.
            public: draw only what every seat may know, as an onlooker sees it. `seat` must then be
                None.

        Raises:
            TypeError, ValueError: as in `describe`; or `last` or `names` is invalid, or the game
                cannot draw pictures.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armada", players=3)
            >>> picture = game.picture(game.new_states(0)[0], seat=1, names=["Ann", "Bo", "Cy"])
            >>> picture.sheet.name
            'armada'
        """
        earlier = None if before is None else self._seen(before, seat, public)
        return self._drawn(self._scene(state, seat, earlier, last, names, public))

    def tell(
        self,
        state: State,
        last: tuple[int, int],
        seat: int | None = None,
        *,
        before: State,
        names: Sequence[str] | None = None,
        public: bool = False,
    ) -> Told:
        """Return an action and its effects in words, completely or as a seat sees them.

        As for a picture, only `describe` and the notation that `seat` may know are used.

        Args:
            state: the state after the action.
            last: the seat that played the action, and the action's id.
            seat: a seat, or None for everything.
            before: the state before the action.
            names: a name for each player, by seat.
            public: tell only what every seat may know, as an onlooker sees it. `seat` must then be
                None.

        Raises:
            TypeError, ValueError: as in `describe`; or `last` or `names` is invalid.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states, action = game.new_states(0), game.actions.id("W3 c4")
            >>> before = states[0].copy()
            >>> game.apply(states, np.array([0]), np.array([action]))
            >>> game.tell(states[0], (0, action), seat=1, before=before).words
            ('player 0 lays a Warrior face down on c4.',)
        """
        earlier = self._seen(before, seat, public)
        return self._told(self._scene(state, seat, earlier, last, names, public))

    def sum_up(
        self,
        states: States,
        actions: Sequence[tuple[int, int]],
        seat: int | None = None,
        *,
        names: Sequence[str] | None = None,
        public: bool = False,
    ) -> str:
        """Return a turn in one sentence, completely or as a seat sees it.

        Args:
            states: the state before the turn, and the state after each action, in order.
            actions: the seat and the id of each action, one entry fewer than `states`.
            seat: a seat, or None for everything.
            names: a name for each player, by seat.
            public: tell only what every seat may know, as an onlooker sees it. `seat` must then be
                None.

        Returns:
            The sentence, or an empty string if the game does not sum up turns.

        Raises:
            TypeError, ValueError: as for `tell`; or there is no action, or the number of actions
                does not fit the number of states.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states, seats = [game.new_states(0)], np.array([0])
            >>> actions = [game.actions.id(text) for text in ("P a1-b1", "P b1-c1")]
            >>> for action in actions:
            ...     states.append(states[-1].copy())
            ...     _ = game.apply(states[-1], seats, np.array([action]))
            >>> game.sum_up(np.concatenate(states), [(0, action) for action in actions])
            'player 0: placed palisades on a1-b1 and b1-c1.'
        """
        if not actions or len(actions) != len(states) - 1:
            raise ValueError(
                f"{len(states)} states with {len(actions)} actions between them: there must be at "
                "least one action, and one state more than actions"
            )
        if self._sum_up is None:
            return ""
        views = [self._seen(state, seat, public) for state in states[:-1]]
        return self._sum_up(
            [
                self._scene(state, seat, before, last, names, public)
                for state, before, last in zip(states[1:], views, actions, strict=True)
            ]
        )

    def course(
        self,
        states: States,
        actions: Sequence[tuple[int, int]],
        seat: int | None = None,
        names: Sequence[str] | None = None,
    ) -> Iterator[tuple[Picture, Told]]:
        """Yield for each state of one game a picture, and the action that led to it in words.

        The results are those of `picture` and `tell`, but each state is described only once.
        Nothing is checked or drawn before the iteration begins.

        Args:
            states: the states in order, the deal first.
            actions: the seat and the id of each action, one entry fewer than `states`.
            seat: a seat, or None for everything.
            names: a name for each player, by seat.

        Raises:
            TypeError, ValueError: as for `picture`, or the number of actions does not fit the
                number of states.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora", board="mini")
            >>> states, action = game.new_states(0), game.actions.id("W1 a1")
            >>> after = states.copy()
            >>> game.apply(after, np.array([0]), np.array([action]))
            >>> moments = list(game.course(np.concatenate([states, after]), [(0, action)]))
            >>> moments[1][1].words
            ('player 0 lays a Warrior of value 1 face down on a1.',)
        """
        if len(actions) != len(states) - 1:
            raise ValueError(
                f"{len(states)} states need {len(states) - 1} actions between them, "
                f"not {len(actions)}"
            )
        before = None
        for state, last in zip(states, [None, *actions], strict=True):
            scene = self._scene(state, seat, before, last, names)
            yield self._drawn(scene), self._told(scene)
            before = scene.view

    def _seen(self, state: State, seat: int | None, public: bool) -> dict[str, Any]:
        """Return the result of `describe` from a cache. The caller must not change it.

        The description of a position is needed several times: for its picture, for its last action
        in words, and as `before` of the next position.
        """
        return self._described(self._check_state(state).tobytes(), seat, public)

    @cached_property
    def _described(self) -> Callable[[bytes, int | None, bool], dict[str, Any]]:
        @lru_cache(maxsize=_KEPT)
        def described(state: bytes, seat: int | None, public: bool) -> dict[str, Any]:
            return self.describe(np.frombuffer(state, self.blank.dtype)[0], seat, public=public)

        return described

    def _drawn(self, scene: Scene) -> Picture:
        if self._picture is None:
            raise ValueError(
                f"{self.name} has no drawing, only text: use render_mode='ansi' or `draw`"
            )
        return self._picture(scene)

    def _scene(
        self,
        state: State,
        seat: int | None,
        before: dict[str, Any] | None,
        last: tuple[int, int] | None,
        names: Sequence[str] | None,
        public: bool = False,
    ) -> Scene:
        said = None if last is None else self._said(last, -1 if public else seat)
        if names is None:
            names = [f"player {player}" for player in range(self.players)]
        if (
            not isinstance(names, Sequence)
            or isinstance(names, str | bytes)
            or len(names) != self.players
        ):
            raise ValueError(
                f"names must be a sequence of {self.players} names, not {brief(repr(names), 60)}"
            )
        shown = tuple(brief(name, 40) for name in names)
        view = self._seen(state, seat, public)
        return Scene(self, view, self._check_seat(seat), before, said, shown)

    def _told(self, scene: Scene) -> Told:
        """Return the last action in the game's words or, if the game has none, in notation."""
        if scene.last is None or scene.before is None:
            return Told(())
        if self._tell is not None:
            return self._tell(scene)
        seat, said = scene.last
        return Told((f"{scene.names[seat]}: {said}.",))

    def draw_svg(
        self, state: State, seat: int | None = None, *, theme: str = "auto", **more: Any
    ) -> str:
        """Return a drawing of a state as an SVG document, whole or as a seat sees it.

        Args:
            state, seat: as for `picture`.
            theme: "light", "dark", or "auto". "auto" is light, but dark in a browser whose user
                prefers dark pages.
            more: the other arguments of `picture`.

        Raises:
            TypeError, ValueError: as for `picture`, or the theme does not exist.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> 'data-place="c4"' in game.draw_svg(game.new_states(0)[0], seat=0)
            True
        """
        return self.picture(state, seat, **more).svg(theme)

    def _said(self, last: tuple[int, int], seat: int | None) -> tuple[int, str]:
        """Return the seat that played an action, and the notation that `seat` may see.

        If `seat` is None, the notation is complete. If it is -1, the notation is the public one.
        """
        if not isinstance(last, tuple) or len(last) != 2:
            raise TypeError(f"last must be a tuple (seat, action), not {brief(repr(last), 60)}")
        mover = whole_number("the seat of the last action", last[0], 0, self.players - 1)
        text = self.actions.text(last[1])
        if seat is not None and seat != mover:
            text = self.actions.public_texts[last[1]]
        return mover, text

    def _check_state(self, state: State) -> States:
        """Check one record, and return a copy of it as an array of shape (1,)."""
        states = np.array(state)  # a copy, as a plain np.ndarray
        if states.ndim:
            raise ValueError(f"state must be one record, not an array of shape {states.shape}")
        return state_checks.check_states(self, states.reshape(1))

    def _check_seat(self, seat: int | None) -> int | None:
        return None if seat is None else whole_number("seat", seat, 0, self.players - 1)


def _in_common(views: Sequence[Any]) -> Any:
    """Return the common parts of some JSON values, with None in place of parts that differ."""
    first = views[0]
    if isinstance(first, dict) and all(
        isinstance(view, dict) and view.keys() == first.keys() for view in views
    ):
        return {key: _in_common([view[key] for view in views]) for key in first}
    if isinstance(first, list) and all(
        isinstance(view, list) and len(view) == len(first) for view in views
    ):
        return [_in_common(items) for items in zip(*views, strict=True)]
    return first if all(view == first for view in views) else None
