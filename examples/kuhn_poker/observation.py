"""What a seat of Kuhn poker observes: the blocks, and the compiled function that fills them."""

from __future__ import annotations

from armarl.games.authoring import Block, Observation, ObservationTable, State, kernel
from kuhn_poker.knowledge import is_open
from kuhn_poker.state import WORD_NAMES

WORDS = len(WORD_NAMES)


def observation_table(players: int) -> ObservationTable:
    """The blocks for so many players; the axis of seats begins with oneself."""
    words = ", ".join(WORD_NAMES)
    return ObservationTable(
        [
            Block("cards", (players, players + 1), 1, 1.0, "own", "one-hot, 1 the lowest; shown"),
            Block("words", (players, WORDS), 1, 1.0, "public", f"one-hot, said last: {words}"),
            Block("to_move", (players,), 1, 1.0, "public", "is to move"),
        ]
    )


@kernel
def observe(s: State, seat: int, out: Observation) -> None:
    """Write what a seat observes into `out`."""
    out[:] = 0
    words = out[s.players * (s.players + 1) :]
    movers = words[s.players * WORDS :]
    for k in range(s.players):
        player = (seat + k) % s.players
        if player == seat or is_open(s, player):
            out[k * (s.players + 1) + s.card[player] - 1] = 1
        words[k * WORDS + s.word[player]] = 1
        movers[k] = player == s.to_move and not s.over
