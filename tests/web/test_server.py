"""The server of the pages: permissions of its users, and refusals."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from armarl.core.game import Game
from armarl.games.make_game import make_game
from armarl.players.simple_players import RandomPlayer
from armarl.web.guards import MOST_BODY
from armarl.web.house import FolderInUseError, House
from armarl.web.server import PAGES, serve
from pages import HOST, Pages
from recorded import data_of, recorded

GAME = make_game("armadora")
FOUR = make_game("armadora", players=4, advanced=True)


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Pages]:
    with Pages(tmp_path / "games") as pages:
        yield pages


def wait(pages: Pages, key: str, seat: int) -> Any:
    """Wait until a seat is to move, or the game is over. Return its view."""
    for _ in range(3000):
        view = pages.get(key, "view", seat=seat).json()
        assert not view["trouble"]
        if view["mover"] == seat or view["over"]:
            return view
        time.sleep(0.01)
    raise AssertionError("the players do not move")


def test_a_game_can_be_played_through_the_pages(pages: Pages) -> None:
    """The host opens a table. A person plays against a player, and plays again."""
    found = pages.get(pages.house.host, "lobby").json()
    assert {game["name"] for game in found["games"]} >= {"armadora", "armada"}
    offered = found["games"][0]
    assert "your own Warriors" in offered["words"]["peek"]
    assert offered["choices"] == {"board": ["whole", "mini"]}
    assert offered["how"]
    assert offered["rules"]
    body = {"game": "armadora", "options": {"players": 2, "board": "mini"}}
    offered = dict(pages.post(pages.house.host, "players", **body).json()["players"])
    assert "random" in offered
    seats = [{"name": "Ann", "own_key": False}, "random"]
    keys = pages.post(pages.house.host, "new", **body, seats=seats).json()["keys"]
    ((key, _), (onlooker, _)) = keys
    setup = pages.get(key, "table").json()
    assert setup["names"] == ["Ann", "random"]
    assert setup["seats"] == [0]
    assert pages.get(onlooker, "table").json()["seats"] == []
    while not (view := wait(pages, key, 0))["over"]:
        action = view["actions"][-1][0]
        after = pages.post(key, "act", seat=0, version=view["version"], action=action)
        assert after.status_code == 200, after.text
        assert after.json()["number"] > view["number"]
    assert pages.get(onlooker, "view", seat="all").json()["over"] == view["over"]
    again = pages.post(key, "again", seat=0, same=True, move_on=True).json()["key"]
    setup = pages.get(again, "table").json()
    assert (setup["names"], setup["seats"]) == (["random", "Ann"], [1])
    assert pages.post(key, "next", seat=0).json()["key"] == again
    assert len(pages.get(pages.house.host, "lobby").json()["tables"]) == 2


def test_a_deal_cannot_be_found_by_trial(pages: Pages) -> None:
    """Regression: seeds were below 10**9, and one core tries so many deals within an hour."""
    tables = [pages.house.open_table(GAME, ["random", "random"], None) for _ in range(3)]
    assert max(table.about.deal for table in tables) > 2**40


def test_a_key_is_only_for_its_seats(pages: Pages) -> None:
    table, keys = pages.open(FOUR, [0, 1, 2])
    assert pages.get(keys[1], "view", seat=1).status_code == 200
    for key, seat in (
        (keys[1], 0),
        (keys[1], "all"),
        (keys[None], 0),
        (keys[1], 7),
        (keys[1], "x"),
    ):
        assert pages.get(key, "view", seat=seat).status_code == 409
    for what in ("act", "undo", "resign", "ask", "why", "hint", "again", "retry"):
        body = {"version": table.version, "action": "W1 a1", "text": "W1 a1", "player": "random"}
        asked = pages.post(keys[1], what, seat=0, places=["place-a1"], **body)
        assert (asked.status_code, "not your seat" in asked.text) == (409, True)
        assert pages.post(keys[None], what, seat=0, **body).status_code == 409
        assert pages.post(pages.house.host, what, seat=0, **body).status_code == 409
    assert pages.get(keys[0], "lobby").status_code == 404
    assert pages.post(keys[0], "new", game="armadora", seats=["random"]).status_code == 404
    assert table.view(0)["last"] == 0


def test_pages_link_to_all_rules(pages: Pages) -> None:
    _, keys = pages.open(GAME, [0])
    for key in (pages.house.host, keys[0], keys[None]):
        page = pages.get(key, "rules", game="armada")
        assert page.headers["content-type"] == "text/plain; charset=utf-8"
        assert "**ADA-37**" in page.text
    for name in ("go", "../armada", None):
        assert pages.get(keys[0], "rules", game=name).status_code == 409


def test_an_unknown_key_is_refused(pages: Pages) -> None:
    for key in ("x", "a" * 22, pages.house.host[:-1], pages.house.host + "x"):
        for what in ("", "view", "table", "events", "lobby", "page.css"):
            assert pages.get(key, what).status_code == 404
    assert pages.client.get("/").status_code == 404


def test_requests_of_other_sites_are_refused(pages: Pages) -> None:
    table, keys = pages.open(GAME, [0, 1])
    act = {"seat": 0, "version": table.version, "action": "W1 a1"}
    address = f"/{keys[0]}/act"
    for headers in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"host": "evil.example:8000"},
        {"host": "127.0.0.1:8001"},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
    ):
        answer = pages.client.post(address, json=act, headers=headers)
        assert answer.status_code in (403, 415, 421), headers
    del pages.client.headers["origin"]
    assert pages.client.post(address, json=act).status_code == 403
    cross = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
    assert pages.client.get(f"/{keys[0]}/view", headers=cross).status_code == 403
    opened = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert pages.client.get(f"/{keys[0]}/", headers=opened).status_code == 200
    assert table.view(0)["last"] == 0


def test_every_answer_forbids_foreign_scripts(pages: Pages) -> None:
    _, keys = pages.open(GAME, [0, 1])
    for answer in (
        *(pages.get(keys[0], what) for what in ("", "view", "table", "page.css", "nothing")),
        pages.get(pages.house.host, ""),
        pages.get("x", ""),
        pages.post(keys[0], "act"),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    for page in (pages.get(keys[0], ""), pages.get(pages.house.host, "")):
        assert "<script>" not in page.text
        assert " style=" not in page.text
        assert " onclick=" not in page.text
        assert "//" not in page.text.replace("<!doctype", "")  # nothing is loaded from elsewhere
    for name, kind in PAGES.items():
        assert pages.get(keys[0], name).headers["content-type"].startswith(kind)


def test_large_requests_are_refused(pages: Pages) -> None:
    _, keys = pages.open(GAME, [0, 1])
    assert pages.post(keys[0], "act", action="x" * (MOST_BODY + 1)).status_code == 413
    assert pages.post(keys[0], "act", seat=0, version="", action="x" * 600).status_code == 409
    assert pages.client.get(f"/{'x' * 300}/").status_code == 414
    assert pages.get(keys[0], "view", seat="1" * 300).status_code == 414

    def parts() -> Iterator[bytes]:
        yield from [b"x" * 4096] * (MOST_BODY // 4096 + 1)

    headers = {"content-type": "application/json", "transfer-encoding": "chunked"}
    answer = pages.client.post(f"/{keys[0]}/act", content=parts(), headers=headers)
    assert answer.status_code == 413


def test_too_many_requests_are_refused_and_the_game_continues(tmp_path: Path) -> None:
    with Pages(tmp_path / "games", rate=50, burst=10) as pages:
        _, keys = pages.open(GAME, [0, 1])
        found = {pages.get("x", "view").status_code for _ in range(30)}
        assert found == {404, 429}
        time.sleep(0.1)
        assert pages.get(keys[0], "view", seat=0).status_code == 200


def test_answers_do_not_wait_for_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Nagle's algorithm, an answer would wait until the browser acknowledges the last one."""

    def connect(_server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        (listener,) = sockets
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
        with accepted:
            delays.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0)

    delays: list[bool] = []
    monkeypatch.setattr(uvicorn.Server, "run", connect)
    with closing(House(tmp_path)) as house:
        serve(house, "127.0.0.1", 0)
    assert delays == [False]


def test_a_server_can_be_restarted_in_mid_turn(tmp_path: Path) -> None:
    with Pages(tmp_path / "games") as pages:
        table, keys = pages.open(GAME, [0, 1])
        version = table.version
        seen = pages.post(keys[0], "act", seat=0, version=version, action="P a1-b1").json()
        with pytest.raises(FolderInUseError):
            House(tmp_path / "games")
        host = pages.house.host
    with Pages(tmp_path / "games") as pages:
        again = pages.get(keys[0], "view", seat=0).json()
        assert again["question"] == seen["question"]
        assert again["parts"] == seen["parts"]
        twice = pages.post(keys[0], "act", seat=0, version=version, action="P a1-b1")
        assert (twice.status_code, "has changed since" in twice.json()["refused"]) == (409, True)
        assert pages.get(host, "lobby").status_code == 404  # a key of the earlier server


def test_a_table_with_damaged_files_does_not_affect_others(tmp_path: Path) -> None:
    with Pages(tmp_path / "games") as pages:
        table, keys = pages.open(GAME, [0, 1])
        _, others = pages.open(GAME, [0, 1])
    (tmp_path / "games" / f"{table.name}.txt").write_text("nonsense\n")
    (tmp_path / "games" / "more.json").write_text("[1, 2")
    (tmp_path / "games" / "more.txt").write_text("")
    with Pages(tmp_path / "games") as pages:
        assert pages.get(keys[0], "view", seat=0).status_code == 409
        assert pages.get(others[0], "view", seat=0).status_code == 200
        assert len(pages.get(pages.house.host, "lobby").json()["tables"]) == 2


def test_players_must_be_listed(pages: Pages) -> None:
    body = {"game": "armadora", "options": {"players": 2}}
    for player in ("nobody", "spies:Spy", "/etc/passwd", "human", "runs/mine"):
        answer = pages.post(pages.house.host, "new", **body, seats=["random", player])
        assert (answer.status_code, "is not available" in answer.text) == (409, True)
    for wrong in (
        {"options": {"players": 9}},
        {"options": {"chart": "/etc/passwd"}},
        {"options": {"players": [2]}},
        {"options": {"nothing": 1}},
        {"game": "chess"},
        {"seats": []},
        {"seats": ["random"] * 3},
        {"seats": [{"name": 1, "own_key": False}, "random"]},
        {"deal": -1},
        {"deal": 1.5},
    ):
        full = {**body, "seats": ["random", "random"], **wrong}
        assert pages.post(pages.house.host, "new", **full).status_code == 409, wrong
    for text in ("", "[", "[]", "1", '{"seat": NaN', '{"a":' * 3000):
        answer = pages.client.post(
            f"/{pages.house.host}/new", content=text, headers={"content-type": "application/json"}
        )
        assert answer.status_code == 409, text[:9]


def test_typed_words_are_understood(pages: Pages) -> None:
    table, keys = pages.open(GAME, [0, 1])

    def ask(text: str) -> Any:
        return pages.post(keys[0], "ask", seat=0, version=table.version, text=text).json()

    assert "W5 h5" in ask("moves")["said"]
    assert "ARM-13" in ask("stop")["said"]
    assert ask("W2 c4")["number"] == 1
    assert "face down on c4" in ask("last")["said"]


def finished(pages: Pages, player: str = "random") -> tuple[Any, Any]:
    """Play a small game until its end. Return the table and the keys."""
    table, keys = pages.open(make_game("armadora", board="mini"), [0], player)
    while not (view := wait(pages, keys[0], 0))["over"]:
        action = view["actions"][-1][0]
        pages.post(keys[0], "act", seat=0, version=view["version"], action=action)
    return table, keys


def test_a_finished_game_has_a_replay_with_thoughts(pages: Pages) -> None:
    going, others = pages.open(GAME, [0, 1])
    for answer in (pages.get(others[0], "replay"), pages.get(others[0], "study")):
        assert (answer.status_code, "before the game is over" in answer.text) == (409, True)
    assert pages.post(others[0], "study", player="random").status_code == 409
    table, keys = finished(pages)
    page = pages.get(keys[None], "replay")
    policy = page.headers.get_list("content-security-policy")
    assert len(policy) == 1
    assert policy[0].startswith("default-src 'none'; script-src 'sha256-")
    assert policy[0].endswith("; frame-ancestors 'none'")
    (game,) = data_of(page.text)["games"]
    assert [view["seat"] for view in game["views"]] == [None, 0, 1]
    assert game["views"][0]["thinkers"] == []
    for player in ("random", "ismcts:20", "greedy", "nobody"):
        pages.post(keys[0], "study", player=player)
        while (found := pages.get(keys[0], "study").json())["thinking"]:
            time.sleep(0.02)
        heard = {"random": "", "greedy": "not report", "nobody": "player nobody is not available"}
        assert heard.get(player, "player ismcts:20 is not available") in found["trouble"]
    assert found["asked"] == ["random"]
    (game,) = data_of(pages.get(keys[0], "replay").text)["games"]
    assert len(game["views"][0]["thinkers"]) == 1
    assert all(moment["thoughts"][0]["rows"] for moment in game["views"][0]["moments"][1:])
    assert table.is_over
    assert not going.is_over


def test_the_same_records_are_opened_only_once(pages: Pages) -> None:
    record = recorded(make_game("armadora", board="mini"), "random")
    for _ in range(2):
        pages.house.keep(record)
    (table,) = pages.get(pages.house.host, "lobby").json()["tables"]
    ((key, seats),) = table["keys"]
    assert (table["over"], seats) == (True, [])
    assert pages.get(key, "view", seat="all").json()["over"]
    assert pages.get(key, "replay").status_code == 200


POSITION = {
    "game": "armadora",
    "players": 2,
    "warriors": {"c4": {"player": 0, "value": 5}, "e3": {"player": 1, "value": 3}},
    "palisades": ["c3-c4", "d3-d4"],
    "to_move": 1,
}


def kept(pages: Pages, text: str) -> Any:
    """Open a text on the host's page. Return the one key that it gets."""
    answer = pages.post(pages.house.host, "keep", text=text)
    assert answer.status_code == 200, answer.text
    ((key, seats),) = answer.json()["keys"]
    assert seats == []  # nobody plays
    return key


def test_players_can_think_about_a_position_made_by_hand(tmp_path: Path) -> None:
    with Pages(tmp_path / "games") as pages:
        key = kept(pages, json.dumps(POSITION, indent=4))
        assert kept(pages, json.dumps(POSITION)) == key
    with Pages(tmp_path / "games") as pages:  # the position is still there after a restart
        view = pages.get(key, "view", seat="all").json()
        assert view["over"] == "A position: player 1 is to move."
        drawn = "".join(svg for _, svg in view["parts"])
        assert "c4: Warrior 5" in drawn
        assert pages.get(key, "table").json()["seats"] == []
        for player in ("armadora-2p", "random"):
            pages.post(key, "study", player=player)
            while (found := pages.get(key, "study").json())["thinking"]:
                time.sleep(0.02)
            assert found["trouble"] == ""
        (game,) = data_of(pages.get(key, "replay").text)["games"]
        (moment,) = game["views"][0]["moments"]
        trained, uniform = moment["thoughts"]
        assert trained["rows"] != uniform["rows"]
        assert -1 <= trained["value"] <= 1
        (table,) = pages.get(pages.house.host, "lobby").json()["tables"]
        assert (table["game"], table["names"], table["over"]) == ("armadora", ["a position"], True)


def test_a_record_and_a_position_of_armada_can_be_opened_as_text(pages: Pages) -> None:
    record = recorded(make_game("armadora", board="mini"), "random")
    key = kept(pages, str(record))
    assert pages.get(key, "view", seat="all").json()["last"] == len(record.actions)
    game = make_game("armada", cards=True)
    state = recorded(game, "random", most=200).states[-1]
    # The longest text that a person may have.
    key = kept(pages, json.dumps(game.describe(state), indent=4))
    assert "is to move" in pages.get(key, "view", seat="all").json()["over"]


def test_text_that_is_not_a_record_or_a_position_is_refused(pages: Pages) -> None:
    def refused(text: Any) -> str:
        answer = pages.post(pages.house.host, "keep", text=text)
        assert answer.status_code == 409
        return str(answer.json()["refused"])

    def position(**more: Any) -> str:
        return refused(json.dumps({**POSITION, **more}))

    assert "ARM-12" in position(palisades=["a1-b1", "a1-a2"])
    assert "'palisades_left' would be" in position(palisades_left=3)
    assert "other hands are hidden" in position(hands=[None, [1, 2]])
    assert "a description of armadora has no key 'x'" in position(x=1)
    assert "unknown game 'go'" in position(game="go")
    assert "chart" in position(game="armada", options={"chart": "/etc/passwd"})
    assert "it lacks 'game'" in refused('{"players": 2}')
    assert "appears twice" in refused('{"players": 2, "players": 2}')
    assert "levels deep" in position(x=json.loads("[" * 40 + "]" * 40))
    assert "first line must be" in refused("nonsense")
    for text in ("", None, ["x"], str(recorded(GAME, most=2)) * 2):
        refused(text)
    assert pages.post(pages.house.host, "keep", text="x" * MOST_BODY).status_code == 413
    assert pages.get(pages.house.host, "lobby").json()["tables"] == []


def test_only_the_host_can_open_positions(pages: Pages) -> None:
    _, keys = pages.open(GAME, [0, 1])
    for key in keys.values():
        assert pages.post(key, "keep", text=json.dumps(POSITION)).status_code == 404
    assert len(pages.get(pages.house.host, "lobby").json()["tables"]) == 1


def test_a_slow_player_does_not_block_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, thinking, make = threading.Event(), threading.Event(), House._make_player

    class Slow(RandomPlayer):
        def choose(self, states: Any, seats: Any, draws: Any) -> Any:
            thinking.set()
            assert free.wait(60)
            return super().choose(states, seats, draws)

    def slowly(house: House, spec: str, game: Game) -> Any:
        return Slow(game) if spec == "random" else make(house, spec, game)

    monkeypatch.setattr(House, "_make_player", slowly)
    with Pages(tmp_path / "games") as pages:
        slow, keys = pages.open(GAME, [0])
        pages.post(keys[0], "act", seat=0, version=slow.version, action="W1 a1")
        assert thinking.wait(30)
        other, others = pages.open(GAME, [0], "greedy")
        pages.post(others[0], "act", seat=0, version=other.version, action="W1 a1")
        assert wait(pages, others[0], 0)["last"] >= 2
        assert pages.get(keys[0], "view", seat=0).json()["last"] == 1
        assert pages.post(keys[0], "undo", seat=0, version=slow.version).status_code == 200
        free.set()
        time.sleep(0.2)
        # The choice that the player made too late is ignored.
        assert pages.get(keys[0], "view", seat=0).json()["last"] == 0


def test_a_player_of_the_command_line_is_listed_once(tmp_path: Path) -> None:
    house = House(tmp_path / "games", named=["greedy", "greedy:noise=0.2"])
    listed = house.players(GAME)
    assert ("greedy:noise=0.2", "named on the command line") in listed
    words = dict(listed)["greedy"]
    assert words.startswith("the game's scripted player; armadora-2p wins ")
    assert [name for name, _ in listed].count("greedy") == 1
