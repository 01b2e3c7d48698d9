"""Files that only show a training: tables, curves, events. A training never ends because of one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from armarl.common.messages import brief, log


class SideFiles:
    """Writes files of a folder as far as that is possible.

    Attributes:
        failed: the names of the files that could not be written when last tried.
    """

    def __init__(self, folder: Path, goes_on: str) -> None:
        """Begin without failures.

        Args:
            folder: the folder of the files.
            goes_on: a name for the work that does not depend on the files, such as "the training".
        """
        self._folder, self._goes_on = folder, goes_on
        self.failed: set[str] = set()

    def attempt(self, name: str, write: Callable[[], object]) -> None:
        """Write one of the files. If that fails, log one line, the first time."""
        try:
            write()
        except Exception as error:  # TensorBoard's thread passes on whatever it met
            if name not in self.failed:
                self.failed.add(name)
                said = f"{brief(self._folder / name)} cannot be written ({brief(error)})"
                with suppress(OSError, ValueError):  # stderr may be closed or full as well
                    log(f"{said}; {self._goes_on} continues")
        else:
            self.failed.discard(name)
