"""How a run comes on: a table, a curve and TensorBoard's events, all in its folder."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from armarl.arena.policy_card import WINS
from armarl.arena.policy_card_text import thinned
from armarl.common.files import read_text, write_text
from armarl.common.messages import brief
from armarl_training.common.run_folder import RunError
from armarl_training.common.svg_plots import COLOURS, Axes, picture, text, ticks

LARGEST_TABLE = 1 << 28  # in bytes
MOST_NUMBER = 1e15  # that a policy's card tells
MOST_MEASURED = 100  # rows that a policy keeps
TABLE, CURVE, EVENTS = "progress.csv", "curve.svg", "tensorboard"
RATING = "rating"  # the column
SCALE = "scale"  # the column: how often other anchors had been named before a row was measured
COLUMNS = ("decisions", "minutes", "decisions_per_second", RATING, SCALE)  # the run's own
RETURNS = "return/"  # before an opponent's name: the learner's mean return against it
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BETWEEN = 490, 300, 60, 20, 170, 40  # _RIGHT: at least
_LETTER = 7.5  # how wide one is, about


class ProgressLog:
    """The rows of `progress.csv`, each a dictionary of some of its columns.

    Attributes:
        scale: of the ratings from now on: the table keeps those that were measured by other
            anchors, which cannot be compared with them, and nothing else tells of these.
    """

    def __init__(self, folder: Path, sides: int = 2) -> None:
        """A log without rows; `sides` are those of the game, see `curve`."""
        self.rows: list[dict[str, float]] = []
        self._sides = sides
        self.scale = 0
        self._folder = folder
        self._events: Any = None
        self._taken_up: int | None = None  # events of this step or later are of a part that died

    def note(self, row: dict[str, float]) -> None:
        """Add a row; it holds `decisions` and `minutes`, and whatever else was measured then."""
        if RATING in row and self.scale:
            row = {**row, SCALE: float(self.scale)}
        self.rows.append(row)
        if self._events is None:
            from torch.utils.tensorboard import SummaryWriter

            folder = str(self._folder / EVENTS)
            self._events = SummaryWriter(folder, purge_step=self._taken_up)
            self._taken_up = None  # of the events that begin now none is taken back
        for name, value in row.items():
            if name != "decisions":
                tag = f"{name}/{self.scale}" if name == RATING and self.scale else name
                self._events.add_scalar(tag, value, int(row["decisions"]))

    def rating(self) -> float | None:
        """The newest by the present anchors, if there is one."""
        rated = rated_rows(self.rows, self.scale)
        return rated[-1][RATING] if rated else None

    def is_measured(self, decisions: int) -> bool:
        """Whether the policy was measured after so many decisions."""
        return any(row["decisions"] == decisions and RATING in row for row in self.rows[-1:])

    def measured(self) -> list[dict[str, float]]:
        """How the policy stood against its present anchors, as its file keeps it: some rows, in
        part.
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
        """Write the table and the curve."""
        if self._events is not None:
            self._events.flush()
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        table = io.StringIO()
        writer = csv.DictWriter(table, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: _written(v) for k, v in row.items()} for row in self.rows)
        write_text(self._folder / TABLE, table.getvalue())
        write_text(self._folder / CURVE, curve(self.rows, self.scale, self._sides))

    def close(self) -> None:
        """End TensorBoard's thread; a row that is noted later begins another file of events."""
        if self._events is not None:
            self._events.close()
            self._events = None

    def begin_anew(self) -> None:
        """What an earlier part of the run noted is of nothing that was kept."""
        self._taken_up = 0

    def take_up(self, decisions: int) -> None:
        """Read the rows of the earlier parts of the run, up to where it goes on.

        Raises:
            RunError: the table is damaged.
        """
        path = self._folder / TABLE
        try:
            lines = read_text(path, LARGEST_TABLE).splitlines()
            rows = [_read(row) for row in csv.DictReader(lines)]
            self._taken_up = decisions + 1
        except FileNotFoundError:
            return
        except (ValueError, TypeError, AttributeError, csv.Error) as error:
            raise RunError(
                f"{path} is damaged, remove it and the table begins anew: {brief(error)}"
            ) from error
        self.rows = [row for row in rows if row["decisions"] <= decisions]


def _read(written: dict[str, str]) -> dict[str, float]:
    """A row of the table, with those columns that have a number in it.

    Raises:
        ValueError: it has none of decisions, or numbers that no run has measured.
    """
    row = {name: float(number) for name, number in written.items() if number}
    if not (row.get("decisions", -1.0) >= 0 and row["decisions"].is_integer()):
        raise ValueError("a row has no number of decisions")
    for name, number in row.items():
        if _is_shown(name) and not abs(number) < MOST_NUMBER:  # of NaN neither
            raise ValueError(f"a row has {number} for {name}")
    return row


def _is_shown(column: str) -> bool:
    """Whether it is drawn, or kept by the policy; a loss that was measured may be anything."""
    return column in ("decisions", "minutes", RATING) or column.startswith((WINS, RETURNS))


def _written(number: float) -> str:
    """Whole numbers whole: by its decisions a row is known to lie before the checkpoint."""
    return f"{number:.0f}" if float(number).is_integer() else f"{number:.6g}"


def _rounded(number: float) -> float:
    """As it is read back from the table, so that a resumed run keeps the same."""
    return float(_written(number))


def rated_rows(rows: list[dict[str, float]], scale: int) -> list[dict[str, float]]:
    """Those that have a rating, of one scale."""
    return [row for row in rows if RATING in row and row.get(SCALE, 0.0) == scale]


def curve(rows: list[dict[str, float]], scale: int = 0, sides: int = 2) -> str:
    """An SVG of the win rates against the anchors, of those in training and, below, of the rating,
    over the decisions.

    Args:
        scale: of the ratings those of one scale are drawn, see `ProgressLog`.
        sides: of the game, by which a mean return is a win rate: who wins alone gets 1 of it, each
            loser -1 / (sides - 1).
    """
    lost = -1 / max(sides - 1, 1)
    most = max([row["decisions"] for row in rows], default=1.0) or 1.0
    names = sorted(
        {n for row in rows for n in row if n.startswith((WINS, RETURNS))},
        key=lambda name: (not name.startswith(WINS), name),
    )
    axes = Axes(_LEFT, _TOP, _WIDTH, _HEIGHT, (0.0, most), (0.0, 1.0))
    across = ticks(0.0, most)
    parts = axes.frame(across, " %", 100)
    parts.append(text(_LEFT + _WIDTH + 40, _TOP + _HEIGHT + 18, "decisions"))
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
        axes.line(rating, "#000"),
        text(_LEFT + _WIDTH + 10, below + 14, "rating, Elo points"),
    ]
    return picture(_LEFT + _WIDTH + right, below + _HEIGHT / 2 + _BETWEEN, parts)


def _series(rows: list[dict[str, float]], name: str) -> list[tuple[float, float]]:
    return [(row["decisions"], row[name]) for row in rows if name in row]
