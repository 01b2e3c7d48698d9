"""Generated parts of pages that are otherwise written by hand."""

from __future__ import annotations

from collections.abc import Mapping


def filled(page: str, made: Mapping[str, str]) -> str:
    """Return a page with its generated parts replaced.

    Each part is between `<!-- NAME -->` and `<!-- /NAME -->`.

    Args:
        page: text of the page.
        made: new text of each part, by name.

    Raises:
        ValueError: the page lacks a part.
    """
    for name, text in made.items():
        first, last = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
        before, found, rest = page.partition(first)
        _, closed, after = rest.partition(last)
        if not (found and closed):
            raise ValueError(
                f"the page has no place for {name}: it needs {first.strip()} and {last.strip()}, "
                "each on its own line"
            )
        page = before + first + text + last + after
    return page
