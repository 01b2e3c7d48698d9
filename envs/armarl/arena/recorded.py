"""Tournaments made from recorded games, to rate people and programs together."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np

from armarl.arena.lineups import MOST_ENTRANTS
from armarl.arena.tournament import GameResult, Tournament
from armarl.matches.playing import shares_of_victory
from armarl.matches.records import Record


def recorded_tournaments(records: Iterable[Record]) -> list[Tournament]:
    """Make a tournament from the recorded games of each variant.

    The same name in several records means the same player. Games with the same first position count
    as one deal. A game that was stopped has no result and is left out.

    Args:
        records: the games, from `read_records`.

    Returns:
        A tournament for each variant, in the order of the records. `summarise` rates its players.

    Raises:
        ValueError: the games of a variant have more than MOST_ENTRANTS players.

    Example:
        >>> import os, tempfile
        >>> import armarl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "games.txt")
        ...     _ = armarl.play_match("armadora", ["greedy", "random"], games=4, records=path)
        ...     (tournament,) = recorded_tournaments(armarl.read_records(path))
        >>> tournament.players, len(tournament.games)
        (('greedy', 'random'), 4)
    """
    variants: dict[str, list[Record]] = {}
    for record in records:
        if record.ending in ("end", "cut"):
            variants.setdefault(json.dumps(record.game.variant, sort_keys=True), []).append(record)
    return [_tournament(found) for found in variants.values()]


def _tournament(records: list[Record]) -> Tournament:
    game, players, deals = records[0].game, dict[str, int](), dict[bytes, int]()
    lineups, games = dict[tuple[int, ...], int](), []
    for record in records:
        table = tuple(players.setdefault(name, len(players)) for name in record.players)
        cut, sides = record.ending == "cut", len(set(game.sides))
        shares = [1 / sides] * sides if cut else shares_of_victory(game, np.array(record.returns))
        games.append(
            GameResult(
                lineups.setdefault(tuple(sorted(table)), len(lineups)),
                deals.setdefault(record.states[0].tobytes(), len(deals)),
                table,
                tuple(map(float, shares)),
                len(record.actions),
                cut,
            )
        )
    if len(players) > MOST_ENTRANTS:
        raise ValueError(
            f"the records of one variant mention {len(players)} players, but at most "
            f"{MOST_ENTRANTS} can be rated"
        )
    return Tournament(game, tuple(players), "recorded", False, False, 0, tuple(games))
