"""A comparison of a server's answers in two games that differ only in hidden information.

In each position of the second game, the information that is hidden from the *audience* (a seat, or
onlookers) is different. Actions of other seats are replaced by actions that look the same to the
audience. Then the test makes all requests in both games: positions (even old ones), texts, reasons,
hints, refusals, actions and undo. Every byte of the answers must be equal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.players.simple_players import RandomPlayer
from armarl.web.table import Table
from armarl.web.window import ONLOOKER, Window, places_of
from pages import Pages

_ONLY = np.zeros(1, np.int64)


def course(game: Game, decisions: int, seed: int) -> tuple[list[States], list[int], list[int]]:
    """Return the states, actions and seats of at most `decisions` decisions of a random game.

    The final state is not included.
    """
    player, chance = RandomPlayer(game), game.new_chance(np.array([seed]))
    states, actions, seats = [game.new_states(seed)], list[int](), list[int]()
    while len(actions) < decisions:
        question = game.questions(states[-1], _ONLY, chance)
        after, action = states[-1].copy(), player.choose(*question)
        game.apply(after, _ONLY, action)
        if game.statuses(after)[0][0]:
            break
        states.append(after)
        actions.append(int(action[0]))
        seats.append(int(question[1][0]))
    return states, actions, seats


def sister(game: Game, states: States, audience: int, seed: int) -> States:
    """Return states with other hidden information for an audience, and other random generators.

    States whose generators were equal, because no chance event was between them, still have equal
    ones.
    """
    chance = states["rng"] ^ np.uint64(0x5DEECE66D)
    for seat in range(game.players) if audience == ONLOOKER else [audience]:
        states = game.determinised(states, np.array([seat]), np.array([seed]))
    states["rng"] = chance
    return states


def alike(game: Game, action: int) -> int:
    """Return the action with the highest id that looks the same to the other seats."""
    public = game.actions.public_texts
    return len(public) - 1 - public[::-1].index(public[action])


def put(table: Table, states: list[States], actions: list[int], seats: list[int]) -> None:
    journal = table._journal
    journal.states, journal.actions, journal.seats = list(states), list(actions), list(seats)
    journal._look()
    table._windows.clear()
    table._boards.clear()


def answers(pages: Pages, key: str, seat: int | None, version: str, last: int) -> list[Any]:
    """Return the answers to all requests that an audience can make."""
    who = {} if seat is None else {"seat": seat}
    found, have = [pages.get(key, "table"), pages.get(key, "view", since=0, **who)], ""
    for number in {0, last // 2, last - 1, last}:
        view = pages.get(key, "view", at=number, since=max(number - 3, 0), have=have, **who)
        have = view.json().get("board", "")
        found.append(view)
    found.append(pages.get(key, "view", seat=1 - (seat or 0)))  # refused
    found.append(pages.get(key, "view", seat="all"))  # refused
    found += [pages.get(key, what) for what in ("replay", "study", "lobby", "nothing")]  # refused
    if seat is None:
        return found
    game = pages.house.table(pages.house.visitor(key).table).game  # type: ignore[union-attr, arg-type]
    known = sorted({place for places in places_of(game) for place in places})
    for place in known[:: max(1, len(known) // 6)]:
        found.append(pages.post(key, "why", seat=seat, places=[place]))
        words = f"where {place.partition('-')[2]}"
        found.append(pages.post(key, "ask", seat=seat, version=version, text=words))
    texts = game.actions.texts[:: max(1, len(game.actions) // 15)]
    for text in ("moves", "last", "board", "help", *texts):
        found.append(pages.post(key, "ask", seat=seat, version="0", text=text))
    found.append(pages.post(key, "act", seat=seat, version="old", action="nonsense"))
    found.append(pages.post(key, "act", seat=seat, version=version, action="nonsense"))
    found.append(pages.post(key, "hint", seat=seat, player="random"))
    found.append(pages.post(key, "hint", seat=seat, player="greedy"))
    return found


def unrevealing(table: Table, seat: int, actions: list[str]) -> list[str]:
    """Return only the actions that would reveal nothing new to the seat that plays them."""
    found, version = [], table.version
    for text in actions:
        states, played, seats = (
            list(of) for of in (table._journal.states, table._journal.actions, table._journal.seats)
        )
        after = states[-1].copy()
        action = table.game.actions.id(text)
        table.game.apply(after, _ONLY, np.array([action]))
        put(table, [*states, after], [*played, action], [*seats, seat])
        over = not table._journal.is_playing
        if not over and not Window(table._journal, seat, table.names).has_revealed():
            found.append(text)
        put(table, states, played, seats)
    assert table.version == version
    return found


def compare(game: Game, folder: Path, decisions: int, seed: int) -> tuple[int, int]:
    """Compare all answers, for every audience, in a random game and in its sister.

    Returns:
        The number of comparisons, and the number of those in which the positions differed.

    Raises:
        AssertionError: an answer contains hidden information.
    """
    compared = differed = 0
    states, actions, seats = course(game, decisions, seed)
    for audience in (ONLOOKER, *range(game.players)):
        others = [sister(game, one, audience, 77 + k) for k, one in enumerate(states)]
        differed += sum(a.tobytes() != b.tobytes() for a, b in zip(states, others, strict=True))
        same = [
            action if seat == audience else alike(game, action)
            for seat, action in zip(seats, actions, strict=True)
        ]
        found = []
        with Pages(folder / f"{decisions}-{seed}-{audience}") as pages:
            table, keys = pages.open(game, list(range(game.players)))
            seat = None if audience == ONLOOKER else audience
            key = keys[seat]
            mover = int(game.statuses(states[-1])[1][0])
            legal = game.actions.legal_texts(game.legal_masks(states[-1])[0])[::7][:4]
            put(table, states, actions, seats)
            told = unrevealing(table, mover, legal) if seat == mover else []
            for history in ((states, actions), (others, same)):
                put(table, *history, seats)
                table.about.undone = 0
                told_here = answers(pages, key, seat, table.version, len(actions))
                for text in told:
                    version, body = table.version, {"seat": seat, "action": text}
                    act = pages.post(key, "act", version=version, **body)
                    undo = pages.post(key, "undo", seat=seat, version=table.version)
                    assert (act.status_code, undo.status_code) == (200, 200), (text, undo.text)
                    told_here += [act, undo, pages.get(key, "view", seat=seat)]
                found.append(told_here)
        for one, other in zip(*found, strict=True):
            assert (one.status_code, one.text) == (other.status_code, other.text)
            assert one.headers.get("content-length") == other.headers.get("content-length")
            compared += 1
    return compared, differed
