"""`RefusedError`, the error for requests that the server refuses."""

from __future__ import annotations


class RefusedError(ValueError):
    """An error: a request is refused. The page shows the error's text to the person who made it."""
