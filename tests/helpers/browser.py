"""A headless browser without a network, for tests of pages. Tests skip where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@contextmanager
def browser() -> Iterator[Any]:
    """Yield a headless Chromium that reaches no other machine."""
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    with sync.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"]
        )
        yield chromium
        chromium.close()


class Watched:
    """A page, and all that it complained of or asked the network for."""

    def __init__(self, chromium: Any, **options: Any) -> None:
        self.page = chromium.new_page(**options)
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._asked)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "about:")):
            self.complaints.append(f"request: {request.url}")

    def serious(self) -> list[str]:
        """Return what axe-core finds that is serious or critical."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        found = axe.run(self.page).response["violations"]
        return [
            f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
