"""Check that pictures and replays for one seat contain no information that is hidden from the seat.

    python scripts/checks/check_fog.py --games 200
    python scripts/checks/check_fog.py --games 20 --variant armada-3p-cards

Every game is drawn twice: as it was played, and with the hidden information redealt in every
position. Both drawings must be equal byte for byte. The exit code is 1 if they differ, otherwise 0.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from armarl.core.game import Game
from armarl.core.verbs import PLAYING
from armarl.matches.records import Record
from armarl.replays.replay import Replay
from every_variant import check_variants

LONGEST = 1000  # maximum number of actions in a game
STRETCH = 4  # maximum number of actions in a replay


def stretches(game: Game, games: int, seed: int) -> Iterator[Record]:
    """Play random games. Yield records of a few actions: from a random moment, and from the end."""
    rng = np.random.default_rng(seed)
    for _ in range(games):
        states = game.new_states(int(rng.integers(2**40)))
        course, played = [states[0].copy()], []
        for _ in range(LONGEST):
            status, seats = game.statuses(states)
            if status[0] != PLAYING:
                break
            action = int(rng.choice(np.flatnonzero(game.legal_masks(states)[0])))
            game.apply(states, np.array([0]), np.array([action]))
            course.append(states[0].copy())
            played.append((int(seats[0]), action))
        ends = {int(rng.integers(1, len(course))), len(course) - 1}
        for end in sorted(ends):
            start = max(0, end - STRETCH)
            seats, actions = zip(*played[start:end], strict=True)
            yield Record(
                game=game,
                players=tuple(f"player {seat}" for seat in range(game.players)),
                actions=actions,
                seats=seats,
                ending="stopped",
                returns=(0.0,) * game.players,
                states=np.array(course[start : end + 1], states.dtype),
                lines=(),
            )


def twin(record: Record, seat: int, number: int) -> Record:
    """Return a game that looks the same to a seat but differs in the hidden information.

    Hidden pieces, hands and chance are redealt in every position. Another seat's action is replaced
    by a random one of the actions that look the same to this seat.
    """
    game, rng = record.game, np.random.default_rng(number)
    size = len(record.states)
    states = game.determinised(record.states, np.full(size, seat), number + np.arange(size))
    public = np.array(game.actions.public_texts)
    actions = [
        action if mover == seat else int(rng.choice(np.flatnonzero(public == public[action])))
        for mover, action in zip(record.seats, record.actions, strict=True)
    ]
    return replace(record, states=states, actions=tuple(actions))


def check(game: Game, games: int, seed: int) -> tuple[int, int]:
    """Compare the replays of games with those of their twins (see `twin`), for every seat.

    Returns:
        The number of comparisons, and the number of those in which the twin's states differed.

    Raises:
        AssertionError: a replay shows hidden information to a seat.
    """
    compared = other = 0
    for number, record in enumerate(stretches(game, games, seed)):
        for seat in range(game.players):
            double = twin(record, seat, 1000 * number)
            compared += 1
            other += double.states.tobytes() != record.states.tobytes()
            one, two = (Replay([each], seat).html() for each in (record, double))
            assert one == two, f"{game.name} {dict(game.options)}, seed {seed}, seat {seat}"
            for state, same in zip(record.states, double.states, strict=True):
                assert game.draw(state, seat) == game.draw(same, seat)
    return compared, other


if __name__ == "__main__":
    sys.exit(check_variants(__doc__, 200, "replays", check))
