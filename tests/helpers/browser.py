"""A headless browser without a network, for tests of pages. Tests are skipped if it is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ONLY_HERE = "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
PATIENCE = 300_000  # milliseconds; a step may wait for kernels that another process compiles


@contextmanager
def browser() -> Iterator[Any]:
    """Yield a headless Chromium that can connect only to this machine."""
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    with sync.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", f"--host-resolver-rules={ONLY_HERE}"]
        )
        yield chromium
        chromium.close()


def new_page(browser: Any, **options: Any) -> Any:
    """Open a page with time limits that suffice on a slow machine."""
    page = browser.new_page(**options)
    page.set_default_timeout(PATIENCE)
    return page


class Watched:
    """A page with its errors and warnings, and its requests to the network."""

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
        """Return the accessibility errors that axe-core calls serious or critical."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        found = axe.run(self.page).response["violations"]
        return [
            f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
