"""How a run comes on: a table, a curve and TensorBoard's events, all in its folder."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from armarl.folders import read_text, write_text
from armarl_training.folders import RunError

MOST_BYTES = 1 << 28  # of the table
TABLE, CURVE, EVENTS = "progress.csv", "curve.svg", "tensorboard"
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 720, 360, 60, 20, 170, 40
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#999999")


class ProgressLog:
    """The rows of `progress.csv`, each a dictionary of some of its columns."""

    def __init__(self, folder: Path) -> None:
        self.rows: list[dict[str, float]] = []
        self._folder = folder
        self._events: Any = None

    def note(self, row: dict[str, float]) -> None:
        """Add a row; it holds `decisions` and `minutes`, and whatever else was measured then."""
        self.rows.append(row)
        if self._events is None:
            from torch.utils.tensorboard import SummaryWriter

            self._events = SummaryWriter(str(self._folder / EVENTS))
        for name, value in row.items():
            if name != "decisions":
                self._events.add_scalar(name, value, int(row["decisions"]))

    def draw(self) -> None:
        """Write the table and the curve."""
        if self._events is not None:
            self._events.flush()
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" for k, v in row.items()} for row in self.rows)
        write_text(self._folder / TABLE, text.getvalue())
        write_text(self._folder / CURVE, curve(self.rows))

    def close(self) -> None:
        """End TensorBoard's thread; a row that is noted later begins another file of events."""
        if self._events is not None:
            self._events.close()
            self._events = None

    def take_up(self, decisions: int) -> None:
        """Read the rows of the earlier parts of the run, up to where it goes on.

        Raises:
            RunError: the table is damaged.
        """
        path = self._folder / TABLE
        try:
            lines = read_text(path, MOST_BYTES).splitlines()
            rows = [{k: float(v) for k, v in row.items() if v} for row in csv.DictReader(lines)]
        except FileNotFoundError:
            return
        except (ValueError, TypeError, AttributeError, csv.Error) as error:
            raise RunError(
                f"{path} is damaged, remove it and the table begins anew: {error}"
            ) from error
        self.rows = [row for row in rows if row.get("decisions", 0) <= decisions]


def curve(rows: list[dict[str, float]]) -> str:
    """An SVG of the win rates against the anchors and of the mean returns, over the decisions."""
    names = [n for row in rows for n in row if n.startswith(("wins/", "return/"))]
    series = {
        name: [(row["decisions"], row[name]) for row in rows if name in row]
        for name in sorted(set(names), key=lambda name: (not name.startswith("wins/"), name))
    }
    most = max([row["decisions"] for row in rows], default=1.0) or 1.0
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(decisions: float, share: float) -> str:
        return f"{_LEFT + width * decisions / most:.1f},{_TOP + height * (1 - share):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
    ]
    for percent in range(0, 101, 25):
        y = _TOP + height * (1 - percent / 100)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_LEFT + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>'
        )
    for k in range(5):
        x = _LEFT + width * k / 4
        parts.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - 14}" text-anchor="middle">{most * k / 4:,.0f}</text>'
        )
    for k, (name, points) in enumerate(series.items()):
        colour = _COLOURS[k % len(_COLOURS)]
        kind, opponent = name.split("/", 1)
        dashes = "" if kind == "wins" else ' stroke-dasharray="3 3"'
        text = f"against {opponent}" if kind == "wins" else f"in training, {opponent}"
        line = " ".join(
            place(decisions, value if kind == "wins" else (value + 1) / 2)
            for decisions, value in points
        )
        y = _TOP + 14 * (k + 1)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}"{dashes}/>'
            f'<text x="{_LEFT + width + 10}" y="{y}" fill="{colour}">{_escaped(text)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
