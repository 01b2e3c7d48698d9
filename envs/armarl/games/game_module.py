"""The interface of a game's package."""

from __future__ import annotations

from typing import Any, Protocol

from armarl.core.game import Game


class GameModule(Protocol):
    """The interface of a game's package, which a `GameEntry` names.

    If an option of `make` can be the path of a file, the package also has a function `restore`.
    `restore` takes the options of `make`, read from a record or policy file. A record or policy
    file may come from an untrusted source, so `restore` opens no file that the options name.
    """

    def make(self, **options: Any) -> Game:
        """Return the variant with these options, which include `players`.

        Every option has a default. Calls with the same options return the same object while a
        cache keeps it.

        Raises:
            ValueError: a value is out of range.
        """
        ...
