"""`RefusedError`: what people may not do."""

from __future__ import annotations


class RefusedError(ValueError):
    """A request that is refused. The person who made it may read the text."""
