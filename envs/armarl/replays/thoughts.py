"""What players think of the positions of a recorded game.

Records hold no thoughts. Players are pure functions of what a seat may know, so they can be asked
again at any time: those that played, or any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armarl.matches.records import Record
from armarl.players.protocol import Player, Thinker, Thoughts, ask_thoughts

MOST_ROWS = 5  # actions whose numbers a page shows


def think_over(record: Record, players: Sequence[Player]) -> list[Thoughts | None]:
    """Ask players what they think before each action of a recorded game.

    Args:
        record: the game.
        players: the player of each seat. One that cannot tell its thoughts gives None.

    Returns:
        For each action the thoughts of the player of its seat, a batch of one.

    Raises:
        ValueError: the number of players is wrong.

    Example:
        >>> import os, tempfile
        >>> import armarl
        >>> game = armarl.make_game("armadora", board="mini")
        >>> player = armarl.make_player("random", game)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "games.txt")
        ...     _ = armarl.play_match(game, ["random", "random"], games=1, records=path)
        ...     record = next(armarl.read_records(path))
        >>> think_over(record, [player, player])[0].probabilities.shape
        (1, 229)
    """
    game = record.game
    if len(players) != game.players:
        raise ValueError(
            f"a game with {game.players} seats needs as many players, not {len(players)}"
        )
    seats = np.array(record.seats, np.int64)
    found: list[Thoughts | None] = [None] * seats.size
    chance = game.new_chance(np.arange(seats.size))
    for seat, player in enumerate(players):
        if isinstance(player, Thinker) and (own := np.flatnonzero(seats == seat)).size:
            questions = game.questions(record.states[:-1], own, chance)
            thoughts = ask_thoughts(player, game, *questions)
            for k, place in enumerate(own.tolist()):
                columns: Any = (None if f is None else f[k : k + 1] for f in thoughts)
                found[place] = Thoughts(*columns)
    return found


def as_json(thoughts: Thoughts, action: int, notation: Sequence[str]) -> dict[str, Any]:
    """Return thoughts as JSON types: the expected return, and rows of the best actions.

    A row is a notation, its probability, value and visits, None where there is no opinion. The
    action that was played has a row in any case.
    """
    columns = [
        None if column is None else column[0]
        for column in (thoughts.probabilities, thoughts.visits, thoughts.values)
    ]
    ranking = next((c for c in columns if c is not None), None)
    rows: list[list[Any]] = []
    if ranking is not None:
        order = np.argsort(-np.nan_to_num(ranking, nan=-np.inf), kind="stable")
        chosen = [int(a) for a in order[:MOST_ROWS] if _said(columns, a)]
        for number in [*chosen, *([] if action in chosen else [action])]:
            rows.append([notation[number], *(_number(c, number) for c in columns)])
    value = None if thoughts.value is None else _number(thoughts.value, 0)
    return {"value": value, "rows": rows}


def _said(columns: Sequence[Any], action: int) -> bool:
    """Tell if a player has an opinion of an action."""
    return any(c is not None and c[action] and not np.isnan(c[action]) for c in columns)


def _number(column: Any, place: int) -> float | None:
    if column is None or np.isnan(column[place]):
        return None
    return round(float(column[place]), 3)
