"""`Replay`: recorded games as one HTML page that works offline.

The page contains the pictures that `Game.course` draws. A `Film` stores each piece of SVG of these
pictures once. A *frame* is a list of piece numbers, which make one picture. The page stores only
the changes from one frame to the next. A page for one seat is made only from the seat's view of the
game (`describe`), so the page contains no other information.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from armarl.common.files import check_replaceable, write_text
from armarl.common.messages import brief
from armarl.common.numbers import whole_number
from armarl.core.game import Game
from armarl.core.pictures.film import Film, Frame, changes
from armarl.games.catalogue import game_entry
from armarl.games.make_game import make_game
from armarl.matches.records import Record, check_record
from armarl.players.protocol import Thoughts
from armarl.replays import page
from armarl.replays.thoughts import as_json, deciders, expectations, falls

MOST_NAME = 40  # maximum number of characters of a name on the page

# The thoughts of one or more players before each action of a game, by player name.
Opinions = Mapping[str, Sequence[Thoughts | None]]


class Replay:
    """Recorded games as one HTML page, to step through or play back, from the view of each seat.

    A notebook displays the page if a `Replay` is the last value of a cell.

    Example:
        >>> import os, tempfile
        >>> import armarl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "games.txt")
        ...     _ = armarl.play_match("armadora", ["greedy", "random"], games=1, records=path)
        ...     replay = armarl.Replay(armarl.read_records(path))
        >>> replay.html().startswith("<!doctype html>")
        True
    """

    def __init__(
        self,
        records: Iterable[Record],
        seat: int | None = None,
        thoughts: Sequence[Opinions] | None = None,
        title: str = "ArmaRL replay",
    ) -> None:
        """Draw the games.

        Args:
            records: the games, in the order of the page: a sequence, or the result of
                `read_records`.
            seat: if None, the page contains the full view and the view of each seat, and the reader
                chooses one. If a seat, the page contains nothing that this seat may not know.
            thoughts: for each game, the thoughts of one or more players before each action, by
                player name. `think_over` returns the thoughts of one player. The page shows the
                players side by side. A page for one seat uses only thoughts on the seat's own
                actions.
            title: the title of the page, plain text.

        Raises:
            TypeError: `records` is not an iterable of records, the seat is not an integer, or
                `thoughts` is not a list of dictionaries of lists.
            ValueError: there is no game, the seat does not exist in one of the games, a game has no
                drawing, or the number of thoughts does not match the number of games or of
                decisions.
            RecordError, OSError: `records` comes from `read_records`, and a record cannot be read.
        """
        if isinstance(records, Record | str | Path) or not isinstance(records, Iterable):
            said = "one Record" if isinstance(records, Record) else brief(repr(records), 60)
            raise TypeError(
                "records must be a sequence of records, such as [record] or "
                f'armarl.read_records("games.txt"), not {said}'
            )
        found = tuple(map(check_record, records))
        if not found:
            raise ValueError("a replay needs at least one game")
        if thoughts is not None and not isinstance(thoughts, Sequence):
            raise TypeError(
                'thoughts must be a list with one dictionary per game, such as [{"greedy": '
                f'armarl.think_over(record, "greedy")}}], not {brief(repr(thoughts), 60)}'
            )
        if thoughts is not None and len(thoughts) != len(found):
            raise ValueError(
                f"thoughts must have one entry for each of the {len(found)} games, "
                f"not {len(thoughts)} entries"
            )
        for opinions in thoughts or ():
            _check_opinions(opinions)
        self._title = brief(title)
        texts, films = _Texts(), _Films()
        games = []
        for k, record in enumerate(found):
            opinions = thoughts[k] if thoughts is not None else {}
            games.append(_game(record, k, seat, opinions, texts, films))
        self._data = {"games": games, "texts": texts.found, "films": films.news()}
        self._colours = films.colours()

    def html(self) -> str:
        """Return the page, a complete HTML document."""
        return page.page(self._title, self._data, self._colours)

    def write(self, path: str | Path) -> None:
        """Write the page to a file atomically: the file has either its old or its new content.

        Args:
            path: the file. An existing HTML page is replaced.

        Raises:
            ValueError: the folder does not exist, the path is a folder, or the file exists and is
                not an HTML page.
            OSError: the file cannot be written.
        """
        check_replaceable(Path(path), "HTML")
        write_text(Path(path), self.html())

    def _repr_html_(self) -> str:
        framed = escape(self.html(), quote=True)
        style = "width:100%;height:760px;border:0"
        return f'<iframe title="{escape(self._title)}" style="{style}" srcdoc="{framed}"></iframe>'


def _check_opinions(opinions: object) -> None:
    """Raise a TypeError if the thoughts on a game are not a dictionary of lists."""
    lists = opinions.values() if isinstance(opinions, Mapping) else [None]
    if not all(isinstance(found, Sequence) for found in lists):
        raise TypeError(
            "the thoughts on a game must be a dictionary with a list for each player, such as "
            f'{{"greedy": armarl.think_over(record, "greedy")}}, not {brief(repr(opinions), 60)}'
        )


class _Texts:
    """A numbered list of texts. Moments store the numbers, so the page contains each text once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def found(self) -> list[str]:
        return list(self._numbers)

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))


class _Films:
    """The films of a page, one for each `Sheet` (the size and colours of a variant's pictures)."""

    def __init__(self) -> None:
        self._films: list[Film] = []

    def frame(self, picture: Any) -> tuple[int, Frame]:
        """Return the number of a picture's film, and its frame in this film."""
        for number, film in enumerate(self._films):
            if film.sheet is picture.sheet:
                return number, film.frame(picture)
        self._films.append(Film(picture.sheet))
        return len(self._films) - 1, self._films[-1].frame(picture)

    def news(self) -> list[dict[str, Any]]:
        return [film.head() | film.news() for film in self._films]

    def colours(self) -> list[dict[str, str]]:
        return [film.head()["colours"] for film in self._films]


def _game(
    record: Record,
    number: int,
    seat: int | None,
    opinions: Opinions,
    texts: _Texts,
    films: _Films,
) -> dict[str, Any]:
    """Return a game as JSON types: its players, its actions, and its views."""
    game = record.game
    if seat is not None:
        whole_number(f"the seat of game {number + 1}", seat, 0, game.players - 1)
    for thoughts in opinions.values():
        if len(thoughts) != len(deciders(record)):
            raise ValueError(
                f"game {number + 1} needs thoughts on each of its {len(deciders(record))} "
                f"decisions, not on {len(thoughts)}"
            )
    names = _distinct(record.players)
    seats = [None, *range(game.players)] if seat is None else [seat]
    return {
        "name": _name(game),
        "players": names,
        "seats": list(deciders(record)),
        "stopped": record.ending == "stopped",
        "views": [_view(record, names, look, opinions, texts, films) for look in seats],
    }


def _view(
    record: Record,
    names: Sequence[str],
    seat: int | None,
    opinions: Opinions,
    texts: _Texts,
    films: _Films,
) -> dict[str, Any]:
    """Return a view of a game as JSON types: one moment for each position.

    A moment has the picture's title, the changes from the previous frame, and data about the last
    action: its notation, its turn, its effects in words, and the players' thoughts before it.
    """
    game, moments, turn, last = record.game, [], 0, None
    actions = list(zip(record.seats, record.actions, strict=True))
    frame: Frame = ()
    for k, (picture, told) in enumerate(game.course(record.states, actions, seat, names)):
        film, shown = films.frame(picture)
        moment: dict[str, Any] = {
            "title": texts.number(picture.title),
            "changes": changes(frame, shown),
        }
        frame = shown
        if k:
            mover, action = actions[k - 1]
            own = seat is None or seat == mover
            notation = game.actions.texts if own else game.actions.public_texts
            turn, last = turn + (mover != last), mover
            moment["move"] = texts.number(notation[action])
            moment["turn"] = texts.number(told.turn or f"turn {turn}")
            moment["told"] = [texts.number(word) for word in told.words]
            thoughts = [of_game[k - 1] for of_game in opinions.values()]
            if own:
                moment |= _thought(thoughts, action, notation)
        moments.append(moment)
    if not record.actions and seat in (None, *deciders(record)):  # the record is a single position
        thoughts = [on_it for of_game in opinions.values() for on_it in of_game]
        moments[0] |= _thought(thoughts, None, game.actions.texts)
    thinkers = [_thinker(record, seat, name, texts, opinions[name]) for name in opinions]
    return {"seat": seat, "film": film, "moments": moments, "thinkers": thinkers}


def _thought(
    thoughts: Sequence[Thoughts | None], action: int | None, notation: Sequence[str]
) -> dict[str, Any]:
    """Return the entry of a moment with the players' thoughts, or {} if there are no thoughts."""
    if all(thought is None for thought in thoughts):
        return {}
    return {
        "thoughts": [
            None if thought is None else as_json(thought, action, notation) for thought in thoughts
        ]
    }


def _thinker(
    record: Record,
    seat: int | None,
    name: str,
    texts: _Texts,
    thoughts: Sequence[Thoughts | None],
) -> dict[str, Any]:
    """Return a player's name, the returns that it expects, by seat, and their largest falls."""
    lines = [
        line if seat in (None, own) else []
        for own, line in enumerate(expectations(record, thoughts))
    ]
    return {"name": texts.number(brief(name, MOST_NAME)), "lines": lines, "falls": falls(lines)}


def _name(game: Game) -> str:
    """Return the name of a variant in words, such as `Armadora, 3 players, advanced`."""
    words, usual = [game_entry(game.name).title, f"{game.players} players"], make_game(game.name)
    for name, value in game.options.items():
        if value != usual.options.get(name):
            long = not isinstance(value, bool | int | str) or len(str(value)) > MOST_NAME
            said = f"own {name}" if long else f"{name} {value}"
            words.append(name if value is True else f"no {name}" if value is False else said)
    return ", ".join(words)


def _distinct(players: Sequence[str]) -> list[str]:
    """Return the players' names, shortened. Equal names get different numbers."""
    names = [brief(player, MOST_NAME) for player in players]
    return [
        f"{name} #{names[: k + 1].count(name)}" if names.count(name) > 1 else name
        for k, name in enumerate(names)
    ]
