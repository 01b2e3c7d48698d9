"""States of Armadora from descriptions: the inverse of `describe`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from armarl.compiler.types import State
from armarl.core.positions import Description
from armarl.games.armadora.actions import VALUES
from armarl.games.armadora.board import (
    LINE_EAST,
    LINE_NAMES,
    LINE_SOUTH,
    MINE_NAMES,
    SETS_EAST,
    SETS_SOUTH,
    SITE_NAMES,
    SQUARE_NAMES,
    START_BARRED_EAST,
    START_BARRED_SOUTH,
    START_EAST,
    START_FREE,
    START_SOUTH,
)
from armarl.games.armadora.scoring import score
from armarl.games.armadora.state import (
    CHARACTER_NAMES,
    ELF_CHARACTER,
    GOBLIN_CHARACTER,
    MAGE_CHARACTER,
    OVER,
    POWERS,
    STAGE_NAMES,
    SUPPLY,
    WARRIORS,
)

if TYPE_CHECKING:
    from armarl.core.game import Game


def states_from(game: Game, view: Description, base: State) -> Iterator[State]:
    """Yield the one state that a description defines. Omitted values come from the state `base`."""
    s: Any = np.full(1, base)[0]
    players = game.players
    if "gold" in view:
        s["gold"] = 0
        for name, _ in view.named("gold", MINE_NAMES):
            s["gold"][MINE_NAMES.index(name)] = view.part("gold").number(name, 0)
    _put_palisades(s, view)
    _put_warriors(s, view, players)
    if s["advanced"]:
        _put_powers(s, view, players)
    for player, done in enumerate(view.each("passed", players) or ()):
        s["passed"][player] = Description({"passed": done}).flag("passed")
    over = s["passed"][:players].all()
    stage = view.word("stage", STAGE_NAMES, STAGE_NAMES[OVER if over else 0])
    s["stage"] = STAGE_NAMES.index(stage or "")
    playing = [p for p in range(players) if not s["passed"][p]]
    mover = view.number("to_move", 0, 0, players - 1) if "to_move" in view else None
    s["to_move"] = (playing or [0])[0] if mover is None else mover
    if s["stage"] == OVER:
        score(s)
    yield s


def _put_palisades(s: Any, view: Description) -> None:
    board = s["board"]
    s["east"], s["south"] = START_EAST[board], START_SOUTH[board]
    for name in view.words("palisades", LINE_NAMES):
        line = LINE_NAMES.index(name)
        s["east"] |= LINE_EAST[line]
        s["south"] |= LINE_SOUTH[line]
    east, south = int(s["east"]), int(s["south"])
    placed_east, placed_south = east & ~int(START_EAST[board]), south & ~int(START_SOUTH[board])
    placed = placed_east.bit_count() + placed_south.bit_count()
    s["palisades_left"] = max(0, int(SUPPLY[board]) - placed)
    barred_east, barred_south = int(START_BARRED_EAST[board]), int(START_BARRED_SOUTH[board])
    for line in range(len(LINE_NAMES)):
        if int(LINE_EAST[line]) & placed_east or int(LINE_SOUTH[line]) & placed_south:
            for set_east, set_south in zip(SETS_EAST[line], SETS_SOUTH[line], strict=True):
                open_east, open_south = int(set_east) & ~east, int(set_south) & ~south
                if open_east.bit_count() + open_south.bit_count() == 1:  # ARM-12
                    barred_east |= open_east
                    barred_south |= open_south
    s["barred_east"], s["barred_south"] = barred_east, barred_south


def _put_warriors(s: Any, view: Description, players: int) -> None:
    """Put the Warriors on the board, and those that are left into the hands (ARM-7)."""
    s["hand"] = 0
    s["hand"][:players] = WARRIORS[s["board"], s["players"]]
    for name, value in view.named("warriors", SITE_NAMES):
        square, warrior = SQUARE_NAMES.index(name), Description(value, f"'warriors'[{name!r}]")
        player = warrior.number("player", -1, 0, players - 1)
        worth = warrior.number("value", 0, 1, VALUES)
        s["warriors"][player] |= 1 << square
        s["value"][square] = worth
        # If the hand has no Warrior of this value, its number stays 0. `valid` rejects the state.
        s["hand"][player, worth - 1] -= min(1, s["hand"][player, worth - 1])
        s["face_up"] |= int(warrior.flag("face_up")) << square
        s["arrows"][square] = warrior.number("arrows", 0)
        if "reinforcement" in warrior:
            s["reinforced"][square] = 1 + warrior.number("reinforcement", 0, 0, players - 1)
    taken = np.bitwise_or.reduce(s["warriors"])
    s["free"] = START_FREE[s["board"]] & ~taken
    values = [str(v + 1) for v in range(VALUES)]
    for player, hand in enumerate(view.each("hands", players) or ()):
        held = Description({"hands": hand}, f"player {player}")
        s["hand"][player] = 0
        for value, _ in held.named("hands", values):
            s["hand"][player, int(value) - 1] = held.part("hands").number(value, 0)
    s["hand_size"] = s["hand"].sum(axis=1)


def _put_powers(s: Any, view: Description, players: int) -> None:
    """Set characters, powers and reinforcements. Omitted numbers are computed from the board."""
    if "characters" in view:
        names = view.words("characters", CHARACTER_NAMES)
        view.each("characters", players)
        s["character"] = 0
        s["character"][:players] = [1 + CHARACTER_NAMES.index(name) for name in names]
    for player, seen in enumerate(view.each("seen", players) or ()):
        for name in Description({"seen": seen}, f"player {player}").words("seen", SQUARE_NAMES):
            s["read"][player] |= 1 << SQUARE_NAMES.index(name)
    used = {
        GOBLIN_CHARACTER: int(s["face_up"]).bit_count(),
        ELF_CHARACTER: int(s["arrows"].sum()),
        MAGE_CHARACTER: sum(int(read).bit_count() for read in s["read"]),
    }
    left = [
        max(0, int(POWERS[character]) - used.get(int(character), 0)) for character in s["character"]
    ]
    unplaced = [max(0, 1 - int((s["reinforced"] == p + 1).sum())) for p in range(players)]
    s["powers"][:players] = _numbers(view, "powers", left[:players])
    s["reinforcements"][:players] = _numbers(view, "reinforcements", unplaced)


def _numbers(view: Description, key: str, default: list[int]) -> list[int]:
    """Return the numbers of a key, one for each player, or `default` if the key is absent."""
    found = view.each(key, len(default))
    if found is None:
        return default
    return [Description({key: number}).number(key, 0) for number in found]
