"""Measure the server of `armarl play --web`: the time of a click, and the load of 50 games.

    python scripts/checks/check_pages.py --game armada -o cards=true --player armada-2p-cards-ppo

The server runs in its own process. For each game, the script sends the HTTP requests of a browser:
it follows the events, requests the view, waits for a while and acts. The response time is the time
from the click to the complete response with the new board. The reply time is the time from then
until the person is to move again. For comparison, the script also times a request for a file of 160
bytes, which needs no work. Its time shows the general delay of requests on this machine, which also
simulates all the browsers.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

sys.path.extend(
    str(Path(__file__).resolve().parents[2] / part)
    for part in ("tests", "tests/helpers", "examples")
)

from armarl.cli.shared_options import options_of
from pages import Server


class Page:
    """A simulated person at one page, with the measured times."""

    def __init__(self, client: httpx2.AsyncClient, root: str, key: str, seed: int) -> None:
        self._client, self._table = client, f"{root}/{key}/"
        self._rng = random.Random(seed)
        self.answers: list[float] = []
        self.replies: list[float] = []
        self.nothing: list[float] = []
        self.sizes: list[int] = []
        self.over = False

    async def _ask(self, what: str, **body: Any) -> Any:
        if body:
            answer = await self._client.post(self._table + what, json=body)
        else:
            answer = await self._client.get(self._table + what)
        assert answer.status_code == 200, (answer.status_code, answer.text[:300])
        self.sizes.append(answer.num_bytes_downloaded)
        return answer.json()

    async def play(self, pause: float, until: float) -> None:
        """Play until the game or the given time ends, with random pauses.

        Args:
            pause: mean length of a pause before a click, in seconds.
            until: the time to stop, on the clock `time.perf_counter`.
        """
        await asyncio.sleep(self._rng.uniform(0, pause))  # people do not all start together
        await self._ask("table")
        view, since = await self._ask("view?seat=0"), time.perf_counter()
        async with self._client.stream("GET", self._table + "events") as events:
            lines = events.aiter_lines()
            while not view["over"] and time.perf_counter() < until:
                if view.get("actions"):
                    if self.answers:
                        self.replies.append(time.perf_counter() - since)
                    await asyncio.sleep(self._rng.expovariate(1 / pause))
                    body = {"seat": 0, "version": view["version"], "since": view["last"]}
                    body["have"] = view["board"]
                    body["action"] = self._rng.choice(view["actions"])[0]
                    since = time.perf_counter()
                    view = await self._ask("act", **body)
                    self.answers.append(time.perf_counter() - since)
                    since = time.perf_counter()
                    await self._client.get(self._table + "icon.svg")
                    self.nothing.append(time.perf_counter() - since)
                    continue
                async for line in lines:
                    if line.startswith("data: ") and line[6:] != view["version"]:
                        break
                view = await self._ask(f"view?seat=0&since={view['last']}&have={view['board']}")
        self.over = bool(view["over"])


def cpu_seconds(server: Server) -> float:
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory(server: Server) -> float:
    """Return the server's peak memory in MiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def told(seconds: Any) -> str:
    middle, high = 1000 * np.quantile(seconds, (0.5, 0.95))
    return f"{middle:.0f} ms, p95 {high:.0f} ms"


async def measure(server: Server, options: argparse.Namespace, games: int) -> None:
    variant = {"game": options.game, "options": options_of(options.option)}
    limits = httpx2.Limits(max_connections=1000)
    headers = {"origin": server.root}
    async with httpx2.AsyncClient(headers=headers, limits=limits, timeout=120) as client:
        pages = []
        for number in range(games + 1):
            seats = [{"name": "Ann", "own_key": False}, *[options.player] * (options.seats - 1)]
            body = {**variant, "seats": seats, "deal": number}
            body["options"] = {**body["options"], "players": options.seats}
            answer = await client.post(f"{server.host_page}new", json=body)
            assert answer.status_code == 200, answer.text
            pages.append(Page(client, server.root, answer.json()["keys"][0][0], number))
        first = pages.pop()  # an extra game, played first so that all kernels are compiled
        await first.play(0.05, time.perf_counter() + 3)
        before, began = cpu_seconds(server), time.perf_counter()
        until = began + options.seconds
        await asyncio.gather(*(page.play(options.pause, until) for page in pages))
        wall, busy = time.perf_counter() - began, cpu_seconds(server) - before
    answers, replies, nothing = (
        np.concatenate([np.array(getattr(page, name)) for page in pages])
        for name in ("answers", "replies", "nothing")
    )
    sizes = np.array([size for page in pages for size in page.sizes])
    print(
        f"{options.game}, {games} games against {options.player}, {wall:.0f} s, {answers.size} "
        f"clicks: response {told(answers)}; reply {told(replies)}; no work {told(nothing)}; "
        f"{1000 * busy / answers.size:.0f} ms of CPU a click, {100 * busy / wall:.0f} % of a core; "
        f"{np.median(sizes) / 1024:.0f} KiB a response; {memory(server):.0f} MiB at most",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="armadora")
    parser.add_argument("-o", "--option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--player", default="armadora-2p", help="the player of the other seats")
    parser.add_argument(
        "--games", type=int, nargs="+", default=[1, 50], help="numbers of simultaneous games"
    )
    parser.add_argument("--pause", type=float, default=2.0, help="mean seconds before a click")
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    for games in options.games:
        with tempfile.TemporaryDirectory() as folder:
            server = Server(Path(folder))
            try:
                asyncio.run(measure(server, options, games))
            finally:
                server.client.close()
                server.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
