"""The HTML page of a replay: template, style, scripts and data in one file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from armarl.core.pictures.film import script

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def page(title: str, data: Any, colours: Sequence[Mapping[str, str]]) -> str:
    """Return the page as HTML.

    The page loads no other files and runs only its own scripts, because its Content-Security-Policy
    allows only scripts with their hashes. Texts in the data are shown as text, never as markup.

    Args:
        title: the title.
        data: the games, as JSON types.
        colours: for each film (see `core.pictures.film`), the CSS properties of the themes `light`
            and `dark`.
    """
    style = _part("page.css") + "".join(
        f".film{k}{{{film['light']}}}@media(prefers-color-scheme:dark){{.film{k}{{{film['dark']}}}}}"
        for k, film in enumerate(colours)
    )
    code = f'"use strict";\n{script()}\n{_part("page.js")}'
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    parts = {
        "policy": policy,
        "title": escape(title),
        "style": style,
        "script": code,
        "data": text.replace("<", "\\u003c"),  # so that no text closes the script element
    }
    return _PLACE.sub(lambda match: parts[match[1]], _part("page.html"))


def policy_of(page: str) -> str:
    """Return the Content-Security-Policy of a page, for a server that sends it as a header."""
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert found is not None, "every page has one"
    return found[1]


@cache
def _part(name: str) -> str:
    return files("armarl.replays").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
