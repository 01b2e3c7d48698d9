"""A server and a browser, for tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browser as headless
from pages import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "games")
    yield server
    server.kill()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with headless.browser() as found:
        yield found


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    yield chromium
    # Otherwise the pages would still send requests to a server that has ended.
    for context in chromium.contexts:
        context.close()
