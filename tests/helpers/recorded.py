"""Recorded games, for tests of replays."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from armarl.core.game import Game
from armarl.matches.recording import Recorder
from armarl.matches.records import Record, read_record
from armarl.roster.make_player import make_player


def recorded(game: Game, player: str = "greedy", seed: int = 3, most: int = 10**6, names=None):
    """Return the record of a game, stopped after `most` actions."""
    names = names or [player] * game.players
    states, only = game.new_states(seed), np.zeros(1, np.int64)
    recorder = Recorder(game, [names], np.array([seed]))
    recorder.dealt(states)
    players = [make_player(player, game) for _ in range(game.players)]
    chance = game.new_chance(np.array([seed]))
    for _ in range(most):
        status, seats = game.statuses(states)
        if status[0]:
            break
        questions = game.questions(states, only, chance)
        actions = players[seats[0]].choose(*questions)
        game.play(states, only, actions)
        recorder.played(states, only, questions[1], actions)
    recorder.ended(states)
    return read_record(recorder.texts()[0])


def data_of(page: str) -> dict[str, Any]:
    """Return the data in the page of a replay."""
    found = re.search(r'id="page-data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def words_of(data: dict[str, Any], view: int = 0, game: int = 0) -> list[str]:
    """Return the sentences with which a replay page describes each move."""
    moments = data["games"][game]["views"][view]["moments"][1:]
    return [" ".join(data["texts"][word] for word in moment["told"]) for moment in moments]


def as_file(record: Record, folder: str | Path | None = None) -> Path:
    """Write a record to a file."""
    path = Path(folder or tempfile.mkdtemp()) / "games.txt"
    path.write_text(str(record), encoding="utf-8")
    return path
