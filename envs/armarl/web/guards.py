"""Guards of the server, which refuse requests before any page handles them."""

from __future__ import annotations

import time
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 64 * 1024  # maximum bytes of a request's body; a long record of Armada has 15,000
MOST_PATH = 200  # maximum number of characters of a path or of a query
# RATE is the maximum number of requests per second in the long run, from all visitors together.
# BURST is the maximum number of requests that arrive at the same time. The two numbers are enough
# for 50 people. Each person plays an action every two seconds, which takes three requests. When a
# page opens, it requests a dozen files.
RATE, BURST = 120.0, 600.0

_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        b"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


class Bucket:
    """A token bucket that gains `rate` tokens per second, up to `burst`. A request takes one."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left, self._at = burst, time.monotonic()

    def take(self) -> bool:
        """Take one token if there is one, and return whether there was one."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Guards:
    """ASGI middleware that refuses requests from other sites, large requests and too many requests.

    The Host header of a request must be one of `hosts`. Otherwise another site could reach this
    server under its own host name (DNS rebinding). A request that changes something must come from
    a page of this server and have a JSON body, because a form on another site cannot send JSON.
    Every response has headers that forbid scripts and frames of other sites.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], rate: float, burst: float) -> None:
        self._app, self._hosts = app, {host.lower() for host in hosts}
        self._bucket = Bucket(rate, burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                # A replay page has its own content security policy.
                named = {name for name, _ in message["headers"]}
                ours = (header for header in _HEADERS if header[0] not in named)
                message["headers"] = [*message["headers"], *ours]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            body = await _whole_body(receive)
            refusal = (
                (413, f"a request must have at most {MOST_BODY:,} bytes") if body is None else None
            )
        if refusal is not None:
            status, words = refusal
            await PlainTextResponse(words, status)(scope, receive, sent)
            return
        given = False

        async def once() -> Message:
            nonlocal given
            if given:
                return await receive()  # waits until the client has disconnected
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, once, sent)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the HTTP status and the text of a refusal, or None."""
        headers, method = Headers(scope=scope), scope["method"]
        host = headers.get("host", "").lower()
        if not self._bucket.take():
            return 429, "too many requests; try again in a few seconds"
        if host not in self._hosts or len(headers.getlist("host")) != 1:
            return 421, "the host in the address is not a name of this server"
        if len(scope["path"]) > MOST_PATH or len(scope["query_string"]) > MOST_PATH:
            return 414, f"a path or query must have at most {MOST_PATH} characters"
        if method not in ("GET", "POST"):
            return 405, "the method must be GET or POST"
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        ours = f"{scope['scheme']}://{host}"
        if origin is not None and origin.lower() != ours:
            return 403, "a page of another site sent this request"
        if method == "GET":
            opened = headers.get("sec-fetch-mode") == "navigate"
            if site not in (None, "none", "same-origin") and not opened:
                return 403, "a page of another site sent this request"
            return None
        if origin is None or site not in (None, "same-origin"):
            return 403, "only pages of this server may send this request"
        if headers.get("content-type") != "application/json":
            return 415, "the body must be application/json"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:9]) > MOST_BODY:
            return 413, f"a request must have at most {MOST_BODY:,} bytes"
        return None


async def _whole_body(receive: Receive) -> bytes | None:
    """Return a request's body, or None if the body is too long or incomplete."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += bytes(message.get("body", b""))
        if len(body) > MOST_BODY:
            return None
        if not message.get("more_body", False):
            return body
