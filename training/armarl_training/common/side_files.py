"""Files that only show progress, such as tables. If one cannot be written, training continues."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from armarl.common.messages import brief, log


class SideFiles:
    """A writer of files in a folder. If it cannot write a file, the program continues.

    Attributes:
        failed: names of the files that could not be written at the last attempt.
    """

    def __init__(self, folder: Path, goes_on: str) -> None:
        """Create a writer.

        Args:
            folder: the folder of the files.
            goes_on: name of the work that continues after a failure, such as "the training".
        """
        self._folder, self._goes_on = folder, goes_on
        self.failed: set[str] = set()

    def attempt(self, name: str, write: Callable[[], object]) -> None:
        """Write one of the files. If this fails, log a line, unless the last attempt failed too."""
        try:
            write()
        except Exception as error:  # TensorBoard's thread may raise any error
            if name not in self.failed:
                self.failed.add(name)
                said = f"{brief(self._folder / name)} cannot be written ({brief(error)})"
                with suppress(OSError, ValueError):  # stderr may be closed or full as well
                    log(f"{said}; {self._goes_on} continues")
        else:
            self.failed.discard(name)
