"""A server of the pages of `armarl play --web`, and requests to it as a browser sends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
from starlette.testclient import TestClient

from armarl.core.game import Game
from armarl.web import server
from armarl.web.house import House, Person
from paths import ROOT

HOST = "127.0.0.1:8000"
HEADERS = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}


class Pages:
    """A server with the tables in a folder, and a client of the server.

    Attributes:
        house: the tables.
        client: the client.
    """

    def __init__(self, folder: Path, **rates: float) -> None:
        self.house = House(folder)
        self.server = server.Server(self.house, {HOST}, **{"rate": 1e6, "burst": 1e6, **rates})
        self.client = TestClient(
            self.server.app, base_url=f"http://{HOST}", headers=HEADERS, follow_redirects=False
        )

    def __enter__(self) -> Pages:
        self.client.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.client.__exit__(*error)
        self.house.close()

    def open(self, game: Game, people: list[int], player: str = "random", deal: int = 5) -> Any:
        """Open a table with a key for each person. Return the table and the keys, by seat."""
        seats = [
            Person(f"person {seat}", own_key=True) if seat in people else player
            for seat in range(game.players)
        ]
        table = self.house.open_table(game, seats, deal)
        keys = {tuple(seats): key for key, seats in table.about.keys.items()}
        return table, {seats[0] if seats else None: key for seats, key in keys.items()}

    def get(self, key: str, what: str, **query: Any) -> Any:
        return self.client.get(f"/{key}/{what}", params=query)

    def post(self, key: str, what: str, **body: Any) -> Any:
        return self.client.post(f"/{key}/{what}", json=body)


class Server:
    """`armarl play --web` in a separate process."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        command = [sys.executable, "-m", "armarl.cli", "play", "random", "--web", "--game"]
        command += ["armadora", "--folder", str(folder), "--port", str(port)]
        path = os.pathsep.join([str(ROOT / "envs"), str(ROOT / "training")])
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
        )
        assert self.process.stdout is not None
        self.host_page = self.process.stdout.readline().split()[1]
        self.root = self.host_page.rsplit("/", 2)[0]
        self.client = httpx2.Client(
            headers={"origin": self.root, "content-type": "application/json"}, timeout=60
        )
        for _ in range(600):
            try:
                self.client.get(self.host_page)
                return
            except httpx2.TransportError:
                time.sleep(0.05)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
