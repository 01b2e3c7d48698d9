"""Show docstring examples as code on the documentation site; an extension of mkdocstrings.

Our docstrings have a section `Example:`, because most have one example. The parser of Google's
style knows only the section `Examples:`, and would show the code of any other section as
quotations.
"""

from __future__ import annotations

import re
from typing import Any

import griffe


class DocstringExamples(griffe.Extension):
    """Rename the section before the docstring is parsed."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = re.sub(
                r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE
            )
