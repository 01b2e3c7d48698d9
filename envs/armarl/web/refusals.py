"""`RefusedError`, the error for requests that are refused."""

from __future__ import annotations


class RefusedError(ValueError):
    """A request that is refused. Its text is shown to the person who made the request."""
