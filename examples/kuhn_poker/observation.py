"""The observation of a seat of Kuhn poker: its blocks, and the kernel that fills them."""

from __future__ import annotations

from armarl.games.authoring import Block, Observation, ObservationTable, State, kernel
from kuhn_poker.knowledge import is_open
from kuhn_poker.state import WORD_NAMES

WORDS = len(WORD_NAMES)


def observation_table(players: int) -> ObservationTable:
    """Return the table of blocks. In axes over the seats, the observing seat comes first."""
    words = ", ".join(WORD_NAMES)
    return ObservationTable(
        [
            Block("cards", (players, players + 1), 1, 1.0, "own", "one-hot by rank; 0 if not seen"),
            Block("words", (players, WORDS), 1, 1.0, "public", f"one-hot, last word: {words}"),
            Block("to_move", (players,), 1, 1.0, "public", "whether the seat is to move"),
        ]
    )


@kernel
def observe(s: State, seat: int, out: Observation) -> None:
    """Write the observation of a seat into `out`."""
    out[:] = 0
    words = out[s.players * (s.players + 1) :]
    movers = words[s.players * WORDS :]
    for k in range(s.players):
        player = (seat + k) % s.players
        if player == seat or is_open(s, player):
            out[k * (s.players + 1) + s.card[player] - 1] = 1
        words[k * WORDS + s.word[player]] = 1
        movers[k] = player == s.to_move and not s.over
