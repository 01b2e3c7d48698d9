"""A hook of MkDocs that adds pages to the documentation site and rewrites links.

See `mkdocs.yml`. Pages outside `docs/`, such as the README, become part of the site. If the text of
a link is the name of a page's file, the site shows the page's title instead. A link to another file
of the repository becomes the file's path, because the site does not include source files.
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
PAGES = {  # from a file in the repository to its page on the site
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "NOTICE.md": "notice.md",
    "LICENSE": "licence.md",
    "CHANGELOG.md": "changes.md",
    "policies/README.md": "policies.md",
    "envs/armarl/games/armadora/two_minutes.md": "rules/armadora-in-two-minutes.md",
    "envs/armarl/games/armadora/rules.md": "rules/armadora.md",
    "envs/armarl/games/armada/two_minutes.md": "rules/armada-in-two-minutes.md",
    "envs/armarl/games/armada/rules.md": "rules/armada.md",
}
_SOURCES = {page: source for source, page in PAGES.items()}
# The start of a code block that tests do not run, and its replacement on the site. MkDocs does not
# know the mark "no-run".
_NOT_RUN, _CODE = "```python no-run", "```python"
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside `docs/` to the site's files."""
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        content = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links for the site."""
    return as_on_site(markdown, page.file.src_uri)


def as_on_site(markdown: str, page: str) -> str:
    """Return a page's text with links and code blocks rewritten for the site.

    Raises:
        FileNotFoundError: the target of a link does not exist.
    """
    source = PurePosixPath(_SOURCES.get(page, f"docs/{page}"))

    def led(match: re.Match[str]) -> str:
        mark, text, target, anchor = match.groups()
        path = normpath(source.parent / target)
        if not (ROOT / path).exists():
            raise FileNotFoundError(f"{source} links to {target}, which does not exist")
        if path in PAGES or path.startswith("docs/"):
            there = PAGES.get(path, path.removeprefix("docs/"))
            if text.endswith(PurePosixPath(path).name):
                text = _title(ROOT / path)
            return f"{mark}[{text}]({relpath(there, PurePosixPath(page).parent)}{anchor or ''})"
        name = text.strip("`")
        return f"`{path}`" if name in path else f"{text} (`{path}`)"

    return _LINK.sub(led, markdown.replace(_NOT_RUN, _CODE))


def _title(page: Path) -> str:
    """Return the first heading of a page."""
    return page.read_text(encoding="utf-8").split("# ", 1)[1].splitlines()[0]
