"""Progress of a run: a table, a curve and TensorBoard events, all in the run's folder.

These files only show the progress. If a file cannot be written, one line on stderr says so, and the
training continues with its checkpoints.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from armarl.arena.policy_card import WINS
from armarl.arena.policy_card_text import thinned
from armarl.common.csv_table import csv_text
from armarl.common.files import read_text, write_text
from armarl.common.messages import brief
from armarl_training.common.run_folder import RunError
from armarl_training.common.side_files import SideFiles
from armarl_training.common.svg_plots import COLOURS, Axes, picture, text, ticks

LARGEST_TABLE = 1 << 28  # maximum size of the table, in bytes
MOST_NUMBER = 1e15  # limit of the numbers on a policy card
MOST_MEASURED = 100  # maximum number of rows of the curve in a policy file
TABLE, CURVE, EVENTS = "progress.csv", "curve.svg", "tensorboard"
RATING = "rating"  # column with the rating
SCALE = "scale"  # column with the number of times that the anchors have changed before the row
COLUMNS = ("decisions", "minutes", "decisions_per_second", RATING, SCALE)  # reserved for the run
RETURNS = "return/"  # columns `return/OPPONENT` have the learner's mean return against an opponent
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BETWEEN = 490, 300, 70, 20, 170, 60  # _RIGHT is a minimum
_ACROSS = "decisions learned from"  # the title of the x axis
_LETTER = 7.5  # approximate width of a letter


class ProgressLog:
    """The rows of `progress.csv`. Each row is a dictionary with some of the columns.

    Attributes:
        rows: the rows so far.
        scale: number of the rating scale of new rows. Ratings against other anchors have another
            scale, so they cannot be compared with new ratings. Only the table shows them.
    """

    def __init__(self, folder: Path, sides: int = 2) -> None:
        """Create an empty log. `sides` is the number of sides of the game, see `curve`."""
        self.rows: list[dict[str, float]] = []
        self._sides = sides
        self.scale = 0
        self._folder = folder
        self._events: Any = None
        self._files = SideFiles(folder, "the training")
        # TensorBoard discards events from this step on, which were written after the checkpoint.
        self._taken_up: int | None = None

    def note(self, row: dict[str, float]) -> None:
        """Add a row with `decisions`, `minutes` and any other measured numbers."""
        if RATING in row and self.scale:
            row = {**row, SCALE: float(self.scale)}
        self.rows.append(row)
        if EVENTS not in self._files.failed:
            self._files.attempt(EVENTS, lambda: self._add_events(row))

    def _add_events(self, row: dict[str, float]) -> None:
        if self._events is None:
            from torch.utils.tensorboard import SummaryWriter

            folder = str(self._folder / EVENTS)
            self._events = SummaryWriter(folder, purge_step=self._taken_up)
            self._taken_up = None  # keep the events of this new file
        for name, value in row.items():
            if name != "decisions":
                tag = f"{name}/{self.scale}" if name == RATING and self.scale else name
                self._events.add_scalar(tag, value, int(row["decisions"]))

    def rating(self) -> float | None:
        """Return the newest rating against the current anchors, or None if there is none."""
        rated = rated_rows(self.rows, self.scale)
        return rated[-1][RATING] if rated else None

    def is_measured(self, decisions: int) -> bool:
        """Return whether the last row has the rating of the policy after this many decisions."""
        return any(row["decisions"] == decisions and RATING in row for row in self.rows[-1:])

    def measured(self) -> list[dict[str, float]]:
        """Return the curve for the policy file: results against the current anchors.

        The curve has at most MOST_MEASURED rows, with decisions, minutes, rating and win rates.
        """
        kept = ("decisions", "minutes", RATING)
        rows = [
            {
                name: _rounded(value)
                for name, value in row.items()
                if name in kept or name.startswith(WINS)
            }
            for row in rated_rows(self.rows, self.scale)
        ]
        return thinned(rows, MOST_MEASURED)

    def draw(self) -> None:
        """Write the table and the curve. If one cannot be written, continue without it."""
        if self._events is not None and EVENTS not in self._files.failed:
            self._files.attempt(EVENTS, self._events.flush)
        self._files.attempt(TABLE, self._write_table)
        self._files.attempt(CURVE, self._draw_curve)

    def _write_table(self) -> None:
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        rows = (
            [_written(row[name]) if name in row else "" for name in columns] for row in self.rows
        )
        write_text(self._folder / TABLE, csv_text(columns, rows))

    def _draw_curve(self) -> None:
        write_text(self._folder / CURVE, curve(self.rows, self.scale, self._sides))

    def close(self) -> None:
        """Stop TensorBoard's thread. A row added later starts a new event file."""
        if self._events is not None:
            self._files.attempt(EVENTS, self._events.close)
            self._events = None

    def begin_anew(self) -> None:
        """Discard all earlier TensorBoard events, because the run has no checkpoint yet."""
        self._taken_up = 0

    def take_up(self, decisions: int) -> None:
        """Read the rows of the table up to the checkpoint from which the run is resumed.

        Args:
            decisions: number of decisions at the checkpoint.

        Raises:
            RunError: the table is damaged.
        """
        path = self._folder / TABLE
        try:
            # Do not use csv.DictReader. It fills short rows, so a damaged table with many columns
            # and many short rows would take very long.
            lines = read_text(path, LARGEST_TABLE).splitlines()
            names, *rest = [*filter(None, csv.reader(lines))] or [[]]
            rows = [_read(dict(zip(names, row, strict=True))) for row in rest]
            self._taken_up = decisions + 1
        except FileNotFoundError:
            return
        except (ValueError, TypeError, AttributeError, csv.Error) as error:
            raise RunError(
                f"{path} is damaged; remove it to start a new table: {brief(error)}"
            ) from error
        self.rows = [row for row in rows if row["decisions"] <= decisions]


def _read(written: dict[str, str]) -> dict[str, float]:
    """Read a row of the table. Columns that are empty in this row are left out.

    Raises:
        ValueError: the number of decisions is missing or wrong, or a number is out of range.
    """
    row = {name: float(number) for name, number in written.items() if number}
    if not (row.get("decisions", -1.0) >= 0 and row["decisions"].is_integer()):
        raise ValueError("a row has no valid number of decisions")
    for name, number in row.items():
        if _is_shown(name) and not abs(number) < MOST_NUMBER:  # also true for NaN
            raise ValueError(f"a row has {number} for {name}, which must be below {MOST_NUMBER:g}")
    return row


def _is_shown(column: str) -> bool:
    """Return whether a column is drawn or kept in policy files. Only shown values have a limit."""
    return column in ("decisions", "minutes", RATING) or column.startswith((WINS, RETURNS))


def _written(number: float) -> str:
    """Format a number. Whole numbers stay exact, because resuming compares numbers of decisions."""
    return f"{number:.0f}" if float(number).is_integer() else f"{number:.6g}"


def _rounded(number: float) -> float:
    """Round a number as the table does, so that a resumed run keeps the same numbers."""
    return float(_written(number))


def rated_rows(rows: list[dict[str, float]], scale: int) -> list[dict[str, float]]:
    """Return the rows that have a rating on the given scale."""
    return [row for row in rows if RATING in row and row.get(SCALE, 0.0) == scale]


def curve(rows: list[dict[str, float]], scale: int = 0, sides: int = 2) -> str:
    """Draw an SVG of win rates and rating over decisions.

    The upper plot has the win rates against the anchors and in training. The lower plot has the
    rating.

    Args:
        rows: the rows of the table.
        scale: rating scale to draw, see `ProgressLog`.
        sides: number of sides of the game. It converts a mean return into a win rate: the winner's
            return is 1, each loser's is -1 / (sides - 1).
    """
    lost = -1 / max(sides - 1, 1)
    most = max([row["decisions"] for row in rows], default=1.0) or 1.0
    names = sorted(
        {n for row in rows for n in row if n.startswith((WINS, RETURNS))},
        key=lambda name: (not name.startswith(WINS), name),
    )
    axes = Axes(_LEFT, _TOP, _WIDTH, _HEIGHT, (0.0, most), (0.0, 1.0))
    across = ticks(0.0, most)
    parts = [*axes.frame(across, " %", 100), *axes.titles(_ACROSS, "games won")]
    right = float(_RIGHT)
    for k, name in enumerate(names):
        colour = COLOURS[k % len(COLOURS)]
        won, opponent = name.startswith(WINS), name.split("/", 1)[1]
        points = [(x, y if won else (y - lost) / (1 - lost)) for x, y in _series(rows, name)]
        words = f"against {opponent}" if won else f"in training, {opponent}"
        right = max(right, 20 + _LETTER * len(words))
        parts += [
            axes.line(points, colour, dashed=not won),
            text(_LEFT + _WIDTH + 10, _TOP + 14 * (k + 1), words, colour=colour),
        ]
    rating = _series(rated_rows(rows, scale), RATING)
    below = _TOP + _HEIGHT + _BETWEEN
    if not rating:
        return picture(_LEFT + _WIDTH + right, below, parts)
    found = [y for _, y in rating]
    low, high = min(0.0, *found), max(100.0, *found)
    axes = Axes(_LEFT, below, _WIDTH, _HEIGHT / 2, (0.0, most), (low, high))
    parts += [
        *axes.frame(across),
        *axes.titles(_ACROSS, "rating (Elo points)"),
        axes.line(rating, "#000"),
    ]
    return picture(_LEFT + _WIDTH + right, below + _HEIGHT / 2 + _BETWEEN, parts)


def _series(rows: list[dict[str, float]], name: str) -> list[tuple[float, float]]:
    return [(row["decisions"], row[name]) for row in rows if name in row]
