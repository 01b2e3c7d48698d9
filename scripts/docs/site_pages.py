"""What the documentation site does with pages and links; a hook of MkDocs (see `mkdocs.yml`).

Pages that lie outside of `docs/`, the README first, are part of the site as they are. Links to
other files of the repository become their paths, since the site has no sources.
"""

from __future__ import annotations

import re
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {  # of the site, by their places in the repository
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changes.md",
    "policies/README.md": "policies.md",
}
_SOURCES = {page: source for source, page in PAGES.items()}
_NOT_RUN, _CODE = "```python no-run", "```python"  # for the tests; MkDocs takes it for no code
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere."""
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        content = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to where things are on the site."""
    return as_on_site(markdown, page.file.src_uri)


def as_on_site(markdown: str, page: str) -> str:
    """A page's text with links and code as they are right on the site.

    Raises:
        FileNotFoundError: a link leads nowhere.
    """
    source = PurePosixPath(_SOURCES.get(page, f"docs/{page}"))

    def led(match: re.Match[str]) -> str:
        mark, text, target, anchor = match.groups()
        path = normpath(source.parent / target)
        if not (ROOT / path).exists():
            raise FileNotFoundError(f"{source} links to {target}, which is not there")
        if path in PAGES or path.startswith("docs/"):
            there = PAGES.get(path, path.removeprefix("docs/"))
            return f"{mark}[{text}]({relpath(there, PurePosixPath(page).parent)}{anchor or ''})"
        name = text.strip("`")
        return f"`{path}`" if name in path else f"{text} (`{path}`)"

    return _LINK.sub(led, markdown.replace(_NOT_RUN, _CODE))
