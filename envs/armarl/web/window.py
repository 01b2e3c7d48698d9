"""A game as one audience sees it: a seat, an onlooker, or a person who may see everything.

This module makes everything that the server sends about a game. For a seat it uses only the
concealed state, and for an onlooker only the information that all seats share. So no secret leaves
the server: its responses for two games that differ only in secrets are byte-identical.

A *family* is a group of similar actions in the action table, such as all attacks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import unescape
from itertools import zip_longest
from types import ModuleType
from typing import Any

import numpy as np

from armarl.compiler.types import State, States
from armarl.core.game import Game
from armarl.core.pictures.picture import Picture
from armarl.core.pictures.sheet import PLAIN_THEMES
from armarl.games.catalogue import game_entry
from armarl.matches.journal import Journal
from armarl.matches.undo import has_revealed
from armarl.players.protocol import Player, Thinker, ask_thoughts, choose_legally

ONLOOKER, EVERYTHING = -1, -2  # audiences besides the seats
_SHOWN = 8  # maximum number of actions in a hint
_MOST_REASONS = 2  # maximum number of reasons after a click on a place without a legal action
_NEWS = 400  # maximum number of decisions that one response describes
_TITLE = re.compile(r"<title>(.*?)</title>")
_SEAT = re.compile(r"\bplayer (\d+)\b")  # the name of a seat in the texts of games


class Window:
    """A game as an audience sees it.

    A window caches the texts about decisions, so make a new window when a decision is taken back.

    Attributes:
        game: the variant.
        audience: a seat, ONLOOKER or EVERYTHING.
    """

    def __init__(self, journal: Journal, audience: int, names: Sequence[str]) -> None:
        self.game, self.audience = journal.game, audience
        self._journal, self._names = journal, tuple(names)
        self._news: dict[int, dict[str, Any]] = {}  # texts about decisions, by number
        self._ends: dict[int, bool] = {}  # whether a decision ended a turn, by number

    # --- positions -------------------------------------------------------------------------------

    def _state(self, number: int) -> State:
        """Return the state of a position. For a seat, hidden information is concealed."""
        states = self._journal.states[number]
        if self.audience >= 0:
            states = self.game.concealed(states, np.array([self.audience]))
        return states[0]

    def _how(self) -> dict[str, Any]:
        """Return the keyword arguments that tell `Game.picture` and other methods the audience."""
        return {
            "seat": self.audience if self.audience >= 0 else None,
            "public": self.audience == ONLOOKER,
        }

    def text(self, number: int) -> dict[str, Any]:
        """Return a position as text, and the game's title, for a game without pictures."""
        drawn = "" if self.audience == ONLOOKER else self.drawn(number)
        return {"text": drawn, "title": game_entry(self.game.name).title}

    def drawn(self, number: int = -1) -> str:
        """Return the game's text drawing of a position. Do not call this method for onlookers."""
        return self._named(self.game.draw(self._state(number), self._how()["seat"]))

    def _named(self, text: str) -> str:
        """Replace `player N` in a text of the game by the name of seat N."""
        return _SEAT.sub(lambda found: self._names[int(found[1])], text)

    def picture(self, number: int) -> Picture:
        """Return the picture of a position."""
        journal = self._journal
        seat = journal.seats[number - 1] if number else None
        last = None
        # The picture does not mark the seat's own last action. A seat that must remember its hidden
        # pieces on the board (ARM-33) would otherwise be reminded of them.
        if seat is not None and seat != self.audience:
            last = (seat, journal.actions[number - 1])
        return self.game.picture(
            self._state(number),
            before=self._state(number - 1) if number else None,
            last=last,
            names=self._names,
            **self._how(),
        )

    def news(self, first: int, last: int) -> list[dict[str, Any]]:
        """Return descriptions of decisions `first` to `last` - 1, or of the last _NEWS of them."""
        numbers, news = range(max(first, last - _NEWS, 0), last), self._news
        for number in numbers:
            if number not in news:
                news[number] = self._told(number)
        return [news[number] for number in numbers]

    def _told(self, number: int) -> dict[str, Any]:
        """Return the description of a decision.

        A seat that must remember its hidden pieces on the board (ARM-33) gets only the public
        description of its own decisions. Otherwise the page would remind the seat of the pieces.
        """
        journal, game, window = self._journal, self.game, self
        seat, action = journal.seats[number], journal.actions[number]
        text = game.actions.texts[action]
        may = self.audience == EVERYTHING or (self.audience == seat and not must_remember(game))
        if not may and text != (public := game.actions.public_texts[action]):
            text, window = public, Window(journal, ONLOOKER, self._names)
        states = window._state(number), window._state(number + 1)
        told = game.tell(
            states[1], (seat, action), before=states[0], names=self._names, **window._how()
        )
        summary, self._ends[number] = "", told.ends_turn
        if told.ends_turn:
            summary = self._summary(number) or " ".join(told.words)
        return {
            "seat": seat,
            "text": text,
            "words": told.words,
            "turn": told.turn,
            "summary": summary,
            "result": told.result,
        }

    def _summary(self, last: int) -> str:
        """Return one sentence about the turn that a decision ended.

        Return an empty text for a turn of one decision, and for the audience's own turn. A sentence
        about its own turn would help a seat that must remember its hidden pieces (ARM-33).
        """
        journal, first = self._journal, last
        while first and not self._ended_turn(first - 1):
            first -= 1
        if first == last or journal.seats[first] == self.audience:
            return ""
        states = np.concatenate(journal.states[first : last + 2])
        actions = [(journal.seats[k], journal.actions[k]) for k in range(first, last + 1)]
        how = self._how()
        if how["seat"] is not None:
            states = self.game.concealed(states, np.full(len(states), self.audience))
        return self.game.sum_up(states, actions, names=self._names, **how)

    def _ended_turn(self, number: int) -> bool:
        """Return whether a decision ended a turn, which every audience may know."""
        if number not in self._ends:
            before, after = (self._journal.states[k][0] for k in (number, number + 1))
            last = self._journal.seats[number], self._journal.actions[number]
            told = self.game.tell(after, last, before=before, public=True)
            self._ends[number] = told.ends_turn
        return self._ends[number]

    def where(self, place: str) -> str:
        """Return the title that a place, such as `c4`, has in the picture, or an empty text."""
        if not self.game.has_picture or not place:
            return ""
        for part in self.game.picture(self._state(-1), names=self._names, **self._how()).parts:
            if found := _TITLE.search(part.svg):
                title = unescape(found[1])
                if title == place or title.startswith((f"{place}:", f"{place},")):
                    return title
        return ""

    # --- the seat to move ------------------------------------------------------------------------

    def choices(self) -> dict[str, Any]:
        """Return the question and the legal actions. The audience must be the seat to move."""
        game, state = self.game, self._state(-1)
        found, entries = guide(game), _entries(game)
        asked, about = ("", []) if found is None else found.question(game, state)
        legal = np.flatnonzero(self._mask())
        return {
            "question": asked or "Choose an action.",
            "about": [] if found is None else [found.cells(game)[cell] for cell in about],
            "actions": [entries[action] for action in legal.tolist()],
            "warnings": self._warnings(state),
        }

    def _warnings(self, state: State) -> dict[int, str]:
        """Return the warnings about actions that cannot be taken back, by the number of the family.

        Before the page plays an action with a warning, it shows the warning and asks for a
        confirmation. There are no warnings if the game's guide has no function `warnings`.
        """
        found = guide(self.game)
        said = found.warnings(self.game, state) if found and hasattr(found, "warnings") else {}
        families = enumerate(self.game.actions.families)
        return {k: said[family.name] for k, family in families if family.name in said}

    def _mask(self) -> Any:
        return self.game.legal_masks(np.full(1, self._state(-1)))[0]

    def why(self, action: int) -> str:
        """Return the reason why an action is illegal for the audience, with the rule's number."""
        return self._named(self.game.explain(self._state(-1), action))

    def why_here(self, places: Sequence[str]) -> list[str]:
        """Return the reasons why actions on these places are illegal, one for each family.

        If some of the families have legal actions on other places, return only the reasons for
        these families. The maximum number of reasons is _MOST_REASONS.
        """
        families, mask, wanted = family_of(self.game), self._mask(), tuple(places)
        reasons: dict[int, str] = {}
        for action, touched in enumerate(places_of(self.game)):
            if touched[: len(wanted)] == wanted and wanted:
                if mask[action]:
                    reasons[families[action]] = ""
                elif families[action] not in reasons:
                    reasons[families[action]] = self.why(action)
        if not reasons and len(wanted) > 1:
            known = {place for touched in places_of(self.game) for place in touched}
            first, second = (place.partition("-")[2] for place in wanted[:2])
            return [f"No action leads from {first} to {second}."] if known >= set(wanted) else []
        if not reasons:
            return self._unused(wanted[:1])
        now = {families[action] for action in np.flatnonzero(mask).tolist()}
        telling = [family for family in reasons if family in now] or list(reasons)
        found = dict.fromkeys(reasons[family] for family in telling)
        return [reason for reason in found if reason][:_MOST_REASONS]

    def _unused(self, places: Sequence[str]) -> list[str]:
        """Return the reasons from the game's guide why these places never have an action."""
        found = guide(self.game)
        cells = found.cells(self.game) if found and hasattr(found, "unused") else []
        return [
            found.unused(self.game, self._state(-1), cells.index(place))
            for place in places
            if found and place in cells
        ]

    def has_revealed(self) -> bool:
        """Return whether the last action revealed something to the audience, which played it."""
        journal = self._journal
        before, after = (states[0] for states in journal.states[-2:])
        return has_revealed(self.game, before, journal.actions[-1], after, self.audience)

    # --- players' thoughts -----------------------------------------------------------------------

    def opinion(self, player: Player, states: States) -> dict[str, Any]:
        """Return the action that a player would choose for the seat to move, and its thoughts.

        The seat to move must be the audience, unless the audience is EVERYTHING. The player gets
        only the information of the seat to move.
        """
        game = self.game
        seats = game.statuses(states)[1]
        question = game.concealed(states, seats), seats, np.full(1, 0.5)
        thoughts: list[tuple[str, float]] = []
        value = None
        if isinstance(player, Thinker):
            found = ask_thoughts(player, game, *question)
            if found.probabilities is not None:
                row = found.probabilities[0]
                best = np.argsort(-row, kind="stable")[:_SHOWN].tolist()
                thoughts = [
                    (game.actions.texts[a], round(float(row[a]), 4))
                    for a in best
                    if row[a] > 0.0005
                ]
            if found.value is not None and np.isfinite(found.value[0]):
                value = round(float(found.value[0]), 3)
        chosen = choose_legally(player, game, *question)[0]
        return {
            "player": player.name,
            "action": game.actions.texts[chosen],
            "words": meaning(game, int(chosen)),
            "places": places_of(game)[int(chosen)],
            "likely": thoughts,
            "value": value,
        }


def board(picture: Picture, before: Picture | None) -> dict[str, Any]:
    """Return a picture as JSON types, or only its differences from another picture.

    The page draws nothing itself. It only replaces parts of the picture that it shows.

    Args:
        picture: the picture.
        before: the picture that the page already has, or None. It must be for the same audience.

    Returns:
        A dictionary with the `title`; `parts`, pairs of a part's number and its SVG; the SVG
        `definitions` that these parts need; and `sheet` with the size and the colours, unless the
        page already has them.
    """
    sheet, parts = picture.sheet, [part.svg for part in picture.parts]
    old = [part.svg for part in before.parts] if before and before.sheet is sheet else []
    changed = [
        (k, new)
        for k, (was, new) in enumerate(zip_longest(old, parts, fillvalue=""))
        if not old or was != new
    ]
    found: dict[str, Any] = {
        "title": picture.title,
        "parts": changed,
        "definitions": list(sheet.needed("".join(new for _, new in changed))),
    }
    if not old:
        colours = {theme: sheet.variables(theme) for theme in PLAIN_THEMES}
        found["sheet"] = {"width": sheet.width, "height": sheet.height, "colours": colours}
    return found


# --- the actions of a game on its picture ---------------------------------------------------------


def guide(game: Game) -> ModuleType | None:
    """Return the game's module `guide` with texts and places for the pages, or None."""
    return game_entry(game.name).part("guide")


@lru_cache(maxsize=16)
def signs(game: Game) -> dict[str, Any]:
    """Return the legend of the game's pictures: the signs, and the SVG definitions they need."""
    found = guide(game)
    if found is None or not hasattr(found, "signs") or not game.has_picture:
        return {"signs": [], "definitions": []}
    shown = found.signs(game)
    sheet = game.picture(game.new_states(0)[0], public=True).sheet
    return {"signs": shown, "definitions": list(sheet.needed("".join(s.svg for s in shown)))}


def must_remember(game: Game) -> bool:
    """Return whether a seat must remember its hidden pieces on the board. The default is True."""
    told = getattr(guide(game), "must_remember", None)
    return told is None or bool(told(game))


@lru_cache(maxsize=64)
def family_of(game: Game) -> list[int]:
    """Return the number of each action's family."""
    return [k for k, family in enumerate(game.actions.families) for _ in range(family.size)]


@lru_cache(maxsize=64)
def places_of(game: Game) -> list[tuple[str, ...]]:
    """Return for each action the ids of its places in the picture, in the order of the clicks.

    The places come from the action table. They are the action's edge if the picture draws edges,
    otherwise the origin and the target. The page offers actions without places in a list.
    """
    found = guide(game)
    if found is None:
        return [()] * len(game.actions)
    cells, edges, places = found.cells(game), found.edges(game), game.actions.places
    return [
        (edges[edge],) if edges and edge >= 0 else tuple(cells[c] for c in ends if c >= 0)
        for edge, *ends in zip(
            places.edge.tolist(), places.origin.tolist(), places.target.tolist(), strict=True
        )
    ]


@lru_cache(maxsize=64)
def _entries(game: Game) -> list[list[Any]]:
    """Return for each action a list: notation, family number, number (`_number_of`), places."""
    return [
        [game.actions.texts[action], family, _number_of(game, action), *places]
        for action, (family, places) in enumerate(
            zip(family_of(game), places_of(game), strict=True)
        )
    ]


def meaning(game: Game, action: int) -> str:
    """Return the meaning of an action in words, with the number of its rule."""
    return game.actions.families[family_of(game)[action]].meaning


def _number_of(game: Game, action: int) -> int | None:
    """Return the number in an action, such as a Warrior's value or a number of bands, or None."""
    family = game.actions.families[family_of(game)[action]]
    rest = action - game.actions.first[family.name]
    for values in reversed(family.arguments):
        rest, index = divmod(rest, len(values))
        number = values[index]
    if not family.arguments:
        return None
    return int(number) if isinstance(number, int | np.integer) else None
