"""The HTTP server of the pages. The tables are in a `House`.

Every address begins with a key, which identifies the visitor: the host, who opens tables; the
people at one screen of a table; or an onlooker. Server-sent events tell a page that its table has
changed. The page then requests the new position. People's actions arrive as POST requests.

Games and players never run on the event loop. Short calls run in one pool of threads, the players
of games in a second pool, and the players of studies in a third.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar

import anyio.to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from armarl.common.json_text import read_json
from armarl.common.messages import brief, tell
from armarl.replays.page import policy_of
from armarl.web.guards import BURST, MOST_BODY, RATE, Guards
from armarl.web.house import House, Person, Visitor
from armarl.web.refusals import RefusedError
from armarl.web.table import Table
from armarl.web.window import EVERYTHING, ONLOOKER

PAGES = {
    "page.css": "text/css",
    "lobby.js": "text/javascript",
    "table.js": "text/javascript",
    "words.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
THINKERS = 2  # maximum number of players of games that think at the same time
CALLS = 2  # maximum number of simultaneous short calls: one draws while another waits for the disk
MOST_STREAMS = 16  # maximum number of open event streams for one key
MOST_CONNECTIONS = 400
MOST_HEAD = 16 * 1024  # maximum number of bytes in a request before its body
_PULSE = 15.0  # a stream without events sends a comment after this many seconds

T = TypeVar("T")
_Handler = Callable[["_Visit"], Awaitable[Response]]


class Server:
    """The server of the pages for the tables of a `House`.

    Attributes:
        app: the ASGI application.
    """

    def __init__(
        self, house: House, hosts: Collection[str], rate: float = RATE, burst: float = BURST
    ) -> None:
        """Create the ASGI application.

        Args:
            house: the tables.
            hosts: names and ports by which the server may be addressed, such as `127.0.0.1:8000`.
            rate, burst: the maximum number of requests per second, in the long run and in a burst.
        """
        self.house = house
        self._thinkers = ThreadPoolExecutor(THINKERS, "armarl-player")
        # The pool is separate, because the players of a study think for minutes.
        self._students = ThreadPoolExecutor(1, "armarl-study")
        self._stopped = threading.Event()
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._changed: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._streams: dict[str, int] = defaultdict(int)
        page = files("armarl.web").joinpath("page")
        self._pages = {name: page.joinpath(name).read_bytes() for name in PAGES}
        self._lobby, self._table = (
            page.joinpath(name).read_bytes() for name in ("lobby.html", "table.html")
        )
        gets = {"": self._page, "lobby": self._list, "table": self._setup, "view": self._view}
        gets |= {"events": self._events, "replay": self._replay, "study": self._progress}
        gets |= {"rules": self._rules}
        posts = {"players": self._players, "new": self._new, "keep": self._keep}
        for name in (
            "act",
            "ask",
            "undo",
            "resign",
            "retry",
            "why",
            "hint",
            "again",
            "next",
            "study",
        ):
            posts[name] = getattr(self, f"_{name}")
        routes = [
            *(
                Route(f"/{{key}}/{name}", self._answer(f), methods=["GET"])
                for name, f in gets.items()
            ),
            *(Route(f"/{{key}}/{n}", self._answer(f), methods=["POST"]) for n, f in posts.items()),
            Route("/{key}/{asset}", self._answer(self._asset), methods=["GET"]),
        ]
        self.app = Starlette(
            routes=routes,
            middleware=[
                Middleware(Guards, hosts=hosts, rate=rate, burst=burst),
                Middleware(GZipMiddleware, minimum_size=1000, compresslevel=1),
            ],
            lifespan=self._life,
        )
        self.app.router.redirect_slashes = False

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = CALLS
        yield
        self._stopped.set()
        for event in self._changed.values():
            event.set()
        for task in list(self._playing.values()):
            task.cancel()
        for pool in (self._thinkers, self._students):
            pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, handler: _Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            visitor = self.house.visitor(request.path_params["key"])
            if visitor is None:
                raise HTTPException(404, "no table has the key in this address; check the address")
            visit = _Visit(visitor, request)
            try:
                if request.method == "POST":
                    visit.read(await request.body())
                return await handler(visit)
            except RefusedError as error:
                return JSONResponse({"refused": brief(error, 1000)}, 409)
            except OSError as error:
                tell(f"a file cannot be read or written: {error}")
                raise HTTPException(500, "a file is not accessible: nothing was played") from error

        return answer

    # --- pages -----------------------------------------------------------------------------------

    async def _page(self, visit: _Visit) -> Response:
        page = self._lobby if visit.visitor.table is None else self._table
        return Response(page, media_type="text/html")

    async def _asset(self, visit: _Visit) -> Response:
        name = visit.request.path_params["asset"]
        if name not in self._pages:
            raise HTTPException(404, "there is no such page")
        return Response(self._pages[name], media_type=PAGES[name])

    async def _rules(self, visit: _Visit) -> Response:
        """Return all numbered rules of a game, as text."""
        name = visit.text("game")
        page = await run_in_threadpool(self.house.rules, name)
        return Response(page, media_type="text/plain")

    # --- the host --------------------------------------------------------------------------------

    async def _list(self, visit: _Visit) -> Response:
        visit.check_host()
        tables, games = await run_in_threadpool(
            lambda: (self.house.list_tables(), self.house.offers())
        )
        return JSONResponse({"tables": tables, "games": games, "given": self.house.given()})

    async def _players(self, visit: _Visit) -> Response:
        """Return the players that the host can choose for a variant."""
        visit.check_host()
        name, options = visit.text("game", optional=True), visit.options()

        def find() -> list[tuple[str, str]]:
            return self.house.players(self.house.game(name, options))

        return JSONResponse({"players": await run_in_threadpool(find)})

    async def _new(self, visit: _Visit) -> Response:
        visit.check_host()
        name, options, seats = visit.text("game", optional=True), visit.options(), visit.seats()
        deal = visit.number("deal", 10**9)

        def begin() -> Table:
            return self.house.open_table(self.house.game(name, options), seats, deal)

        table = await run_in_threadpool(begin)
        self._let_players_move(table)
        return _keys(table)

    async def _keep(self, visit: _Visit) -> Response:
        """Open a table for a record or a position that the host has pasted."""
        visit.check_host()
        return _keys(await run_in_threadpool(self.house.keep_text, visit.text("text", MOST_BODY)))

    # --- a table ---------------------------------------------------------------------------------

    async def _open(self, visit: _Visit) -> Table:
        if visit.visitor.table is None:
            raise RefusedError("this is the key of the host, not of a table")
        try:
            table = self.house.opened(visit.visitor.table)
            if table is None:
                table = await run_in_threadpool(self.house.table, visit.visitor.table)
        except ValueError as error:  # the error may quote the file, which contains secrets
            tell(f"table {visit.visitor.table} cannot be read: {error}")
            raise RefusedError("this game's file is damaged; the server's log says more") from error
        self._let_players_move(table)  # necessary after a restart of the server
        return table

    async def _setup(self, visit: _Visit) -> Response:
        table = await self._open(visit)

        def setup() -> dict[str, Any]:
            players = self.house.players(table.game)
            return {**table.setup(visit.visitor.key), "players": players}

        return JSONResponse(await run_in_threadpool(setup))

    async def _view(self, visit: _Visit) -> Response:
        table = await self._open(visit)
        return await run_in_threadpool(self._seen, table, visit, visit.audience(table))

    def _seen(self, table: Table, visit: _Visit, audience: int) -> Response:
        number, since = visit.number("at", 10**6), visit.number("since", 10**6) or 0
        have = visit.text("have", optional=True) or ""
        return JSONResponse(table.view(audience, number, have, since))

    async def _act(self, visit: _Visit) -> Response:
        return await self._do(
            visit, lambda table, seat, version: table.act(seat, version, visit.text("action"))
        )

    async def _undo(self, visit: _Visit) -> Response:
        return await self._do(visit, lambda table, seat, version: table.undo(seat, version))

    async def _resign(self, visit: _Visit) -> Response:
        return await self._do(visit, lambda table, seat, version: table.resign(seat, version))

    async def _retry(self, visit: _Visit) -> Response:
        return await self._do(visit, lambda table, seat, version: table.retry(version))

    async def _do(self, visit: _Visit, deed: Callable[[Table, int, str], None]) -> Response:
        """Carry out a person's request, the function `deed`. Return the person's new view.

        The response is made before other pages are notified and before players move.
        """
        table = await self._open(visit)
        seat, version = visit.seat(table), visit.text("version")

        def do() -> Response:
            deed(table, seat, version)
            return self._seen(table, visit, seat)

        try:
            return await run_in_threadpool(do)
        finally:
            self._tell(table)
            self._let_players_move(table)

    async def _ask(self, visit: _Visit) -> Response:
        """Play a typed text if it is a legal action, otherwise return the answer to it."""
        text = visit.text("text")
        try:
            return await self._do(
                visit, lambda table, seat, version: table.act(seat, version, text.strip())
            )
        except RefusedError:
            table = await self._open(visit)
            said = await run_in_threadpool(table.answer, visit.seat(table), text)
            return JSONResponse({"said": said})

    async def _why(self, visit: _Visit) -> Response:
        table = await self._open(visit)
        seat, places = visit.seat(table), visit.texts("places")
        return JSONResponse({"why": await run_in_threadpool(table.why, seat, places)})

    async def _hint(self, visit: _Visit) -> Response:
        table = await self._open(visit)
        seat, player = visit.seat(table), visit.text("player")
        return JSONResponse(await self._think(partial(table.opinion, seat, player)))

    async def _again(self, visit: _Visit) -> Response:
        """Deal a new game to the same people and players."""
        table = await self._open(visit)
        visit.seat(table)
        same, move_on = visit.flag("same"), visit.flag("move_on")
        again = await run_in_threadpool(self.house.play_again, table, same, move_on)
        self._tell(table)
        self._let_players_move(again)
        return await self._next(visit)

    async def _next(self, visit: _Visit) -> Response:
        table = await self._open(visit)
        key = await run_in_threadpool(self.house.next_key, table, visit.visitor.key)
        return JSONResponse({"key": key})

    async def _replay(self, visit: _Visit) -> Response:
        """Return the replay of the finished game as one HTML page that loads no other files."""
        table = await self._open(visit)
        page = await self._think(lambda: table.study().page())
        headers = {"content-security-policy": f"{policy_of(page)}; frame-ancestors 'none'"}
        return Response(page, media_type="text/html", headers=headers)

    async def _progress(self, visit: _Visit) -> Response:
        table = await self._open(visit)
        return JSONResponse((await run_in_threadpool(table.study)).progress())

    async def _study(self, visit: _Visit) -> Response:
        """Let a player think about every position of the finished game."""
        table, player = await self._open(visit), visit.text("player")
        study = await run_in_threadpool(table.study)
        study.begin(player)
        self._students.submit(table.think_over, player, self._stopped)
        return JSONResponse(study.progress())

    # --- players and events ----------------------------------------------------------------------

    async def _think(self, thought: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thinkers, thought)

    def _let_players_move(self, table: Table) -> None:
        """Start a task that lets players move until a person is to move, unless one is running."""
        running = self._playing.get(table.name)
        if (running is None or running.done()) and table.player_to_move is not None:
            self._playing[table.name] = asyncio.create_task(self._play_on(table))

    async def _play_on(self, table: Table) -> None:
        while table.player_to_move is not None:
            try:
                await self._think(table.let_player_move)
            except OSError as error:  # a full disk; the players continue after the next request
                tell(f"table {table.name}: {error}")
                return
            finally:
                self._tell(table)

    def _tell(self, table: Table) -> None:
        """Notify all pages of a table that the table has changed."""
        self._changed.pop(table.name, asyncio.Event()).set()

    async def _events(self, visit: _Visit) -> Response:
        table, key = await self._open(visit), visit.visitor.key
        if self._streams[key] >= MOST_STREAMS:
            raise HTTPException(429, "too many pages are open at this address")
        return StreamingResponse(self._versions(table, key), media_type="text/event-stream")

    async def _versions(self, table: Table, key: str) -> AsyncIterator[str]:
        """Yield a table's version whenever the table changes. The stream contains no other data."""
        self._streams[key] += 1
        try:
            told = ""
            while True:
                changed, version = self._changed[table.name], table.version
                yield f"data: {version}\n\n" if version != told else ": still here\n\n"
                told = version
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _PULSE)
        finally:
            self._streams[key] -= 1


def serve(house: House, host: str, port: int, names: Sequence[str] = ()) -> None:
    """Serve the pages for the tables of a `House` until Ctrl-C.

    Args:
        house: the tables.
        host: the address to listen on.
        port: the port; 0 takes a free one.
        names: further host names by which the server may be addressed, such as
            `my-computer.local`.

    Raises:
        OSError: the address cannot be used.
    """
    import uvicorn

    with socket.create_server((host, port), reuse_port=False) as listener:
        # Without this option, responses are delayed by 40 ms. asyncio does not set it here, because
        # this socket was made without the protocol number of TCP.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        port = listener.getsockname()[1]
        here = [host, "127.0.0.1", "localhost", *names]
        server = Server(house, {f"{name}:{port}" for name in here if name})
        first = names[0] if names else host
        tell(f"open http://{first}:{port}/{house.host}/")
        tell(
            "Anyone with this address can open and see all games: keep it to yourself. Ctrl-C "
            "stops the server; games continue after a restart."
        )
        sys.setswitchinterval(0.001)  # short, because the event loop must wait while a thread draws
        config = uvicorn.Config(
            server.app,
            lifespan="on",
            ws="none",
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=MOST_HEAD,
            timeout_graceful_shutdown=2,
        )
        uvicorn.Server(config).run([listener])


def _keys(table: Table) -> Response:
    keys = [[key, seats] for key, seats in table.about.keys.items()]
    return JSONResponse({"keys": keys, "names": table.names})


class _Visit:
    """A visitor's request, with methods that read and check its fields."""

    def __init__(self, visitor: Visitor, request: Request) -> None:
        self.visitor, self.request = visitor, request
        self.asked: dict[str, Any] = dict(request.query_params)

    def read(self, body: bytes) -> None:
        """Read the body of a request.

        Raises:
            RefusedError: the body is not a JSON object.
        """
        try:
            found = read_json(body.decode("utf-8"))
        except ValueError as error:
            raise RefusedError("the request is not JSON") from error
        if not isinstance(found, dict):
            raise RefusedError("the request must be a JSON object")
        self.asked = found

    def check_host(self) -> None:
        if self.visitor.table is not None:
            raise HTTPException(404, "only the host may do that")

    def text(self, name: str, most: int = 500, optional: bool = False) -> Any:
        found = self.asked.get(name)
        if found is None and optional:
            return None
        if not isinstance(found, str) or len(found) > most:
            raise RefusedError(f"{name} must be a text of at most {most:,} characters")
        return found

    def texts(self, name: str) -> list[str]:
        found = self.asked.get(name)
        if not isinstance(found, list) or len(found) > 8:
            raise RefusedError(f"{name} must be a list of at most 8 texts")
        if not all(isinstance(one, str) and len(one) <= 100 for one in found):
            raise RefusedError(f"{name} must contain only texts of at most 100 characters")
        return found

    def flag(self, name: str) -> bool:
        found = self.asked.get(name, False)
        if not isinstance(found, bool):
            raise RefusedError(f"{name} must be true or false")
        return found

    def number(self, name: str, most: int) -> int | None:
        """Return a whole number from the query or the body, or None if it is absent."""
        found = self.asked.get(name)
        if isinstance(found, str) and found.isascii() and found.isdecimal() and len(found) < 12:
            found = int(found)
        if found is None or found == "":
            return None
        if type(found) is not int or not 0 <= found <= most:
            raise RefusedError(f"{name} must be a whole number from 0 to {most}")
        return found

    def options(self) -> dict[str, bool | int | str]:
        found = self.asked.get("options", {})
        if not isinstance(found, dict) or len(found) > 20:
            raise RefusedError("options must be a JSON object with at most 20 entries")
        for name, value in found.items():
            short = type(value) is int and abs(value) < 10**9
            if not short and not isinstance(value, bool) and not isinstance(value, str):
                raise RefusedError(
                    f"the option {brief(name, 40)} must be true, false, a number or text"
                )
            if isinstance(value, str) and len(value) > 100:
                raise RefusedError(f"the option {brief(name, 40)} must have at most 100 characters")
        return found

    def seats(self) -> list[str | Person]:
        """Return who has each seat: a player's specification, or a person ({"name", "own_key"})."""
        found, seats = self.asked.get("seats"), list[str | Person]()
        if not isinstance(found, list) or not 1 <= len(found) <= 16:
            raise RefusedError("seats must be a list of 1 to 16 entries, one for each seat")
        for one in found:
            match one:
                case str():
                    seats.append(one)
                case {"name": str(name), "own_key": bool(own)}:
                    seats.append(Person(name, own))
                case _:
                    raise RefusedError(
                        'a seat must be a player, as text, or a person, {"name": text, "own_key": '
                        "true or false}"
                    )
        return seats

    def seat(self, table: Table) -> int:
        """Return the seat that the request names. It must belong to the visitor."""
        own, seat = table.about.keys[self.visitor.key], self.number("seat", 16)
        if seat is None or seat not in own:
            raise RefusedError("this is not your seat")
        return seat

    def audience(self, table: Table) -> int:
        """Return the view that the visitor requests: a seat of its own, ONLOOKER or EVERYTHING."""
        who = self.asked.get("seat")
        if who == "all":
            return EVERYTHING
        return ONLOOKER if who in (None, "") else self.seat(table)
