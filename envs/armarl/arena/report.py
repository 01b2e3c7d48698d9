"""A tournament's report: one self-contained HTML page with plots drawn as SVG."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import numpy as np

from armarl.arena.lineups import tables
from armarl.arena.summary import Summary
from armarl.arena.tournament import Tournament
from armarl.arena.tournament_folder import REPORTS
from armarl.common.files import write_text

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --paper: #fbfaf7; --line: #c9cdd2;
  --mark: #1f6f8b; --soft: #1f6f8b33; --good: 31, 111, 139; --bad: 178, 77, 46; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e9ec; --paper: #15191e; --line: #3a424c;
  --mark: #6cc1dc; --soft: #6cc1dc44; --good: 70, 150, 180; --bad: 200, 105, 70; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
p.note { opacity: .75; margin-top: .2rem; } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; } td.cell { text-align: center; }
td small { opacity: .7; } svg { max-width: 100%; height: auto; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
"""
_ROW, _LEFT, _WIDTH = 26, 250, 900  # row height, width of the names, and plot width, in pixels
_BARS = 24  # maximum number of bars in the plot of game lengths


def write_report(summary: Summary, folder: str | Path) -> Path:
    """Write `summary.json`, `ratings.csv` and `report.html`. Return the path of `report.html`."""
    texts = (json.dumps(summary.as_dict(), indent=2) + "\n", summary.csv(), html(summary))
    for name, text in zip(REPORTS, texts, strict=True):
        write_text(Path(folder) / name, text)
    return Path(folder) / REPORTS[-1]


def html(summary: Summary) -> str:
    """Return the report as an HTML page."""
    t = summary.tournament
    options = ", ".join(f"{name}={value}" for name, value in t.game.options.items())
    deals = 1 + max(game.deal for game in t.games)
    title = f"{t.game.name.capitalize()}, {t.game.players} players"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="note">{escape(options)}. {escape(t.kind)}, {len(t.games):,} games: {deals:,} '
        f"deals, each played by every lineup in {_arrangements(t)}; seed {t.seed}. "
        f"{summary.cut:,} games were cut short and count as draws.</p>",
        "<h2>Ratings</h2>",
        _ratings_plot(summary),
        _ratings_table(summary),
        f'<p class="note">Elo points relative to {escape(t.players[summary.anchor])}, from the '
        "Plackett-Luce model with a term for each place at the table. The 95 % intervals come "
        "from the bootstrap over whole deals.</p>",
        "<h2>Pairs</h2>",
        _pairs_table(summary),
        '<p class="note">The row player\'s share of the victories won by either player of the '
        "pair, in per cent, with its 95 % interval.</p>",
        _cycles_text(summary),
        "<h2>Places</h2>",
        _places_table(summary),
        "<h2>Lengths</h2>",
        _lengths_plot(summary),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    body = "\n".join(parts)
    page = f'<html lang="en"><head>{head}{view}</head><body>\n{body}\n</body></html>'
    return f"<!doctype html>\n{page}\n"


def _arrangements(tournament: Tournament) -> str:
    """Return the seat arrangements that each lineup plays, in words."""
    lineup = tournament.lineups()[0]  # the other lineups repeat a player if this one does
    played = len(tournament.tables(lineup))
    every = len(tables(lineup, tournament.game, tournament.mixed, every=True))
    return "all seat arrangements" if played == every else f"{played} of {every} seat arrangements"


def _ratings_plot(summary: Summary) -> str:
    """Return a plot with each player's rating and interval, the strongest player on top."""
    ratings, names = summary.ratings.players, summary.tournament.players
    low, high = float(ratings.low.min()), float(ratings.high.max())
    margin = max(20.0, 0.05 * (high - low))
    low, high = low - margin, high + margin

    def x(elo: float) -> float:
        return _LEFT + (elo - low) / (high - low) * (_WIDTH - _LEFT - 20)

    marks, bottom = [], _ROW * len(names) + 10
    for tick in _ticks(low, high):
        marks.append(_line(x(tick), 4, x(tick), bottom, "var(--line)"))
        marks.append(
            f'<text x="{x(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>'
        )
    for n, i in enumerate(summary.order()):
        y = _ROW * n + 18
        value, left, right = (float(column[i]) for column in ratings[:3])
        marks.append(
            f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{_short(names[i])}</text>'
        )
        marks.append(_line(x(left), y, x(right), y, "var(--mark)", 3))
        marks.append(f'<circle cx="{x(value):.1f}" cy="{y}" r="5" fill="var(--mark)"/>')
    return _svg(marks, bottom + 28)


def _ratings_table(summary: Summary) -> str:
    names, ratings = summary.tournament.players, summary.ratings.players
    rows = []
    for i, other in summary.next_below():
        sure = f"{ratings.low[i]:z.0f} to {ratings.high[i]:z.0f}"
        interval = "anchor" if i == summary.anchor else sure
        over = "" if other is None else summary.difference(i, other)
        elo, games = f"{ratings.value[i]:z.0f}", f"{summary.games[i]:,}"
        rows.append(_row([escape(names[i]), elo, interval, games, over]))
    return _table(["player", "Elo", "95 % interval", "games", "over the next"], rows)


def _pairs_table(summary: Summary) -> str:
    """Return the table of scores, with scores above one half in blue and others in red."""
    names, order, scores = summary.tournament.players, summary.order(), summary.scores
    rows = []
    for n, i in enumerate(order):
        cells = [f"<td>{n + 1}. {escape(names[i])}</td>"]
        for j in order:
            score = scores.value[i, j]
            if i == j or np.isnan(score):
                cells.append("<td></td>")
                continue
            colour = "var(--good)" if score > 0.5 else "var(--bad)"
            shade = f"rgba({colour}, {min(0.75, 1.5 * abs(score - 0.5)):.2f})"
            interval = f"{100 * scores.low[i, j]:.0f}–{100 * scores.high[i, j]:.0f}"
            text = f"{100 * score:.1f}<br><small>{interval}</small>"
            cells.append(f'<td class="cell" style="background: {shade}">{text}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return _table(["", *(f"{n + 1}" for n in range(len(order)))], rows)


def _cycles_text(summary: Summary) -> str:
    if not summary.cycles:
        return "<p>No cycle of players that beat each other in turn is certain.</p>"
    names = summary.tournament.players
    rings = (" beats ".join(names[i] for i in (*cycle, cycle[0])) for cycle in summary.cycles)
    return (
        "<p>Cycles in which every step is certain:</p><ul>"
        + "".join(f"<li>{escape(ring)}</li>" for ring in rings)
        + "</ul>"
    )


def _places_table(summary: Summary) -> str:
    seats, places, rows = summary.ratings.seats, summary.places, []
    for k in range(len(seats.value)):
        rows.append(
            _row(
                [
                    f"{k + 1}",
                    f"{seats.value[k]:+z.0f}",
                    f"{seats.low[k]:+z.0f} to {seats.high[k]:+z.0f}",
                    f"{100 * places.value[k]:.1f} %",
                    f"{100 * places.low[k]:.1f} to {100 * places.high[k]:.1f} %",
                ]
            )
        )
    heads = ["place in play order", "worth in Elo", "95 % interval", "victories", "95 % interval"]
    return _table(heads, rows)


def _lengths_plot(summary: Summary) -> str:
    """Return a plot of the distribution of game lengths."""
    lengths = summary.lengths
    low, high = int(lengths.min()), int(lengths.max()) + 1
    counts, edges = np.histogram(lengths, bins=min(_BARS, high - low), range=(low, high))
    marks, height, step = [], 150, (_WIDTH - 40) / len(counts)
    for n, count in enumerate(counts):
        tall = height * count / counts.max()
        marks.append(
            f'<rect x="{20 + n * step:.1f}" y="{10 + height - tall:.1f}" width="{step - 2:.1f}" '
            f'height="{tall:.1f}" fill="var(--mark)"><title>{edges[n]:.0f} to '
            f"{edges[n + 1]:.0f} actions: {_games(int(count))}</title></rect>"
        )
    for n in range(0, len(counts) + 1, max(1, len(counts) // 6)):
        at = f'x="{20 + n * step:.1f}" y="{height + 28}"'
        marks.append(f'<text {at} text-anchor="middle">{edges[n]:.0f}</text>')
    marks.append(_line(20, 10 + height, _WIDTH - 20, 10 + height, "var(--line)"))
    said = f"Actions per game: {lengths.mean():.0f} on average, {low} to {high - 1}."
    return _svg(marks, height + 40) + f'<p class="note">{said}</p>'


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count:,} games"


def _ticks(low: float, high: float) -> list[float]:
    """Return about eight round numbers in a range, for the ticks of an axis."""
    rough = (high - low) / 8
    size = 10 ** np.floor(np.log10(rough))
    step = size * min((1, 2, 5, 10), key=lambda n: abs(n * size - rough))
    return [float(n * step) for n in range(int(np.ceil(low / step)), int(high // step) + 1)]


def _short(name: str) -> str:
    return escape(name if len(name) <= 32 else f"{name[:31]}…")


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: int = 1) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"/>'


def _svg(marks: list[str], height: int) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img">{"".join(marks)}</svg>'
    )


def _row(cells: list[str]) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _table(heads: list[str], rows: list[str]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
