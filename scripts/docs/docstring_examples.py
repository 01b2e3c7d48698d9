"""An extension of mkdocstrings that shows docstring examples as code on the documentation site.

Our docstrings have a section `Example:`, because most have one example. The parser of Google's
style knows only the section `Examples:`. It would show the code of any other section as a
quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe


class DocstringExamples(griffe.Extension):
    """An extension that renames the section `Example:` to `Examples:` before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = re.sub(
                r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE
            )
