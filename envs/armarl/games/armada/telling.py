"""The effects of an action of Armada in words: dice, fights, finds, cards; and the question."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from armarl.common.messages import counted
from armarl.games.armada.text.drawing import pieces_of, turn_line
from armarl.games.armada.text.explain import asked

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def events(game: Game, before: State, after: State, seat: int | None) -> list[str]:
    """Return what changed between two states, as far as a seat may know it (None: everything)."""
    old, new = game.describe(before, seat), game.describe(after, seat)
    thrown = new["chance"] if before["rng"] != after["rng"] else []
    lines = [_die(name, face) for name, face in thrown]
    changes = [
        f"{name}: {was} -> {now}"
        for name in game.attributes["chart"].places
        if (was := pieces_of(old, name)) != (now := pieces_of(new, name))
    ]
    lines += ["; ".join(changes)] if changes else []
    for player in range(game.players):
        lines += _cards(old, new, player)
    claims = [colour for colour in new["claims"] if colour not in old["claims"]]
    return lines + [f"{colour} claims victory" for colour in claims]


def question(game: Game, state: State) -> str:
    """Return whose turn it is and what is to be decided, in one line."""
    return turn_line(game.describe(state)) + asked(game, state)


def _die(name: str, face: int) -> str:
    if name != "combat":
        return f"{name} die: {face}"
    if face == 0:
        return "combat die: nothing"
    said = counted(face, "hit") if face > 0 else counted(-face, "loss", "losses")
    return f"combat die: {said}"


def _cards(old: dict[str, Any], new: dict[str, Any], player: int) -> list[str]:
    """Return the cards that a player has got."""
    hands = old["hands"][player], new["hands"][player]
    if None not in hands:
        got = Counter(hands[1]) - Counter(hands[0])
        return [f"player {player} draws {', '.join(got.elements())}"] if got else []
    number = new["hand_sizes"][player] - old["hand_sizes"][player]
    return [f"player {player} draws {counted(number, 'card')}"] if number > 0 else []
