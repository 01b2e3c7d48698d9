"""Hostile messages to the pages, and servers that are killed."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest

from armarl.games.make_game import make_game
from armarl.matches.journal import Journal
from armarl.web.table_files import read_about
from pages import HOST, Pages, Server

GAME = make_game("armadora")
WORDS = ["act", "ask", "undo", "resign", "retry", "why", "hint", "again", "new", "players"]


def hostile(rng: random.Random, keys: list[str], version: str) -> dict[str, Any]:
    """Return a request in which something is wrong, so that it must be refused."""
    body: Any = {
        "seat": rng.choice([0, 1, -1, 2, 99, None, "0", 0.5, [], {}, True, 10**30]),
        "version": rng.choice(["", "0.0", 5, None, "x" * 9999, version + " "]),
        "action": rng.choice(
            ["W1 d1", "", "stop", "\x00", "W1 a1\n", "😀" * 200, 7, None, ["W1 a1"]]
        ),
        "text": rng.choice(["", "x" * 9999, 3, None]),
        "places": rng.choice(["x", ["x"] * 99, [1], None, [["a"]]]),
        "player": rng.choice(["nobody", "os:system", "../../x", 5, None, "human"]),
        "same": rng.choice([1, "true", None]),
        "seats": rng.choice([[], "random", [None], [{}]]),
        "options": rng.choice([[], {"players": 10**400}, {"chart": "/etc/passwd"}, {"a": {}}]),
    }
    content = json.dumps(body).encode()
    shape = rng.randrange(6)
    if shape == 1:
        content = rng.randbytes(rng.randrange(400))
    elif shape == 2:
        content = content[: rng.randrange(len(content))]
    elif shape == 3:
        content = rng.choice(
            [b"", b"[" * 15000, b"null", b"\xff\xfe", b"0" * 70000, b'{"seat":' * 900]
        )
    key = rng.choice([*keys, "", "..", "x" * 22, "%00", "%2e%2e", keys[0][:-1], keys[0] + "a"])
    headers = {"content-type": "application/json", "origin": f"http://{HOST}"}
    if shape == 4:
        headers[rng.choice(["origin", "host", "content-type"])] = rng.choice(
            ["null", "http://evil.example", "evil", "text/html", ""]
        )
    method = "POST" if shape < 5 else rng.choice(["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
    return {
        "method": method,
        "url": f"http://{HOST}/{key}/{rng.choice([*WORDS, '', 'view', '../act', 'page.css', 'x'])}",
        "content": content,
        "headers": headers,
    }


@pytest.mark.parametrize("seed", range(4))
def test_hostile_messages_are_refused_and_change_no_game(seed: int, tmp_path: Path) -> None:
    """The 500 messages have wrong keys, seats, versions, orders, types, sizes or bytes."""
    rng = random.Random(seed)
    with Pages(tmp_path / "games") as pages:
        table, keys = pages.open(GAME, [0, 1])
        pages.post(keys[0], "act", seat=0, version=table.version, action="W1 a1")
        version, shown = table.version, pages.get(keys[1], "view", seat=1).json()
        for _ in range(125):
            request = hostile(rng, [keys[None], keys[0], keys[1]], version)
            answer = pages.client.request(**request)
            assert 400 <= answer.status_code < 500, (request, answer.text[:200])
            assert "Traceback" not in answer.text
            assert len(answer.text) < 2000
            assert (tmp_path.stat(), table.version)[1] == version
        assert pages.get(keys[1], "view", seat=1).json() == shown
        act = pages.post(keys[1], "act", seat=1, version=version, action="W1 a2")
        assert act.json()["number"] == 2


def test_a_killed_server_loses_nothing(tmp_path: Path) -> None:
    """After `kill -9`, each answered decision is in the game once, and the game continues."""
    rng, kills = random.Random(1), int(os.environ.get("ARMARL_KILLS", "3"))
    folder, answered, key = tmp_path / "games", 0, ""
    for _ in range(kills):
        server = Server(folder)
        if not key:
            seats = [{"name": "Ann", "own_key": False}, "random"]
            body = {"game": "armadora", "options": {"players": 2}, "seats": seats}
            key = server.client.post(f"{server.host_page}new", json=body).json()["keys"][0][0]
        timer = threading.Timer(rng.uniform(0.3, 2.5), server.kill)
        table = f"{server.root}/{key}/"
        view = server.client.get(f"{table}view?seat=0").json()
        timer.start()
        try:
            while True:
                assert view["last"] >= answered, "a decision that was answered is lost"
                answered = view["last"]
                if view["over"]:
                    body = {"seat": 0, "same": False, "move_on": False}
                    key = server.client.post(f"{table}again", json=body).json()["key"]
                    table, answered = f"{server.root}/{key}/", 0
                if view.get("actions"):
                    action = rng.choice(view["actions"][:-1] or view["actions"])[0]
                    body = {"seat": 0, "version": view["version"], "action": action}
                    last = view["last"]
                    view = server.client.post(f"{table}act", json=body).json()
                    assert view["last"] >= last + 1
                else:
                    time.sleep(0.01)
                    view = server.client.get(f"{table}view?seat=0").json()
        except httpx2.TransportError:
            pass  # it was killed
        timer.join()
        server.client.close()
        for path in folder.glob("*.json"):  # the game in the files is valid
            journal = Journal.resume(path.with_suffix(".txt"))
            if key in path.read_text():
                assert len(journal.actions) >= answered


GOOD = {"players": [None, None], "keys": {"k": [0]}, "deal": 1, "chance": 1}
STRANGE = {
    "deep": "[" * 100_000,
    "deep players": '{"players": ' + "[" * 100_000,
    "a key twice": '{"deal": 2, ' + json.dumps(GOOD)[1:],
    "no number": json.dumps({**GOOD, "deal": float("nan")}),
    **{
        f"{name}: {value}": json.dumps({**GOOD, name: value})
        for name, value in (
            *(("keys", None), ("keys", [1, 2]), ("keys", 7), ("keys", {"k": ["a"]})),
            *(("keys", {"k": [True]}), ("keys", {"k": [2]}), ("players", 3), ("players", [1, 2])),
            *(("deal", "x"), ("chance", -1), ("undone", 1 << 63), ("resigned", 2)),
            *(("next", 5), ("next", "../elsewhere/t"), ("next", "0123456789/")),
        )
    },
}


@pytest.mark.parametrize("kind", STRANGE)
def test_invalid_files_of_tables_are_ignored(tmp_path: Path, kind: str) -> None:
    """Regression: some files ended the server at its start, or gave access to another file."""
    folder = tmp_path / "games"
    with Pages(folder) as pages:
        table, _ = pages.open(GAME, [0, 1])
    (folder / "strange.json").write_text(STRANGE[kind], "utf-8")
    (folder / "strange.txt").write_bytes((folder / f"{table.name}.txt").read_bytes())
    said = "table's file|nested more than|appears twice|is not a JSON number"
    with pytest.raises(ValueError, match=said) as refused:
        read_about(folder, "strange")
    assert len(str(refused.value)) < 400
    with Pages(folder) as pages:
        (shown,) = pages.get(pages.house.host, "lobby").json()["tables"]
        assert shown["file"] == f"{table.name}.txt"


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "large", "lines", "names"])
def test_invalid_records_of_tables_stop_no_server(tmp_path: Path, kind: str) -> None:
    """Regression: a pipe blocked the server, and `player` without a name broke the table list."""
    folder = tmp_path / "games"
    with Pages(folder) as pages:
        table, keys = pages.open(GAME, [0, 1])
    path = folder / f"{table.name}.txt"
    with Pages(folder) as pages:  # the record is replaced while the server runs
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "large":
            with path.open("wb") as file:
                file.truncate(1 << 40)
        elif kind == "lines":
            path.write_text("armarl-record 1\nplayer\nplayer \nplayer 0\nplayer 0 \n")
        else:
            path.write_text("armarl-record 1\n" + "player 0 \x1b[2J\u202e\n" * 5000)
        shown = pages.get(pages.house.host, "lobby").json()["tables"]
        assert all(name.isprintable() for one in shown for name in one["names"])
        assert sum(len(one["names"]) for one in shown) <= 16
        assert pages.get(keys[0], "view", seat=0).status_code == 409


@pytest.mark.skipif(os.name != "posix", reason="links are POSIX")
@pytest.mark.parametrize("change", ["play", "undo", "resume"])
def test_a_link_that_replaces_a_game_is_not_followed(tmp_path: Path, change: str) -> None:
    """Regression: the linked file was cut, or a line was appended to it."""
    path, mine = tmp_path / "table.txt", tmp_path / "mine"
    journal = Journal.begin(path, GAME, ["a", "b"], 5)
    first = int(np.flatnonzero(GAME.legal_masks(journal.states[-1])[0])[0])
    if change == "undo":
        journal.play(first)
    mine.write_bytes(path.read_bytes() + b"mine")
    path.unlink()
    path.symlink_to(mine)
    before = mine.read_bytes()
    changes = {
        "play": lambda: journal.play(first),
        "undo": journal.undo,
        "resume": lambda: Journal.resume(path),
    }
    with pytest.raises(OSError, match=r"table\.txt"):
        changes[change]()
    assert mine.read_bytes() == before
