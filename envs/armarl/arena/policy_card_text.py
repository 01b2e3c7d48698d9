"""Cards of saved policies as text, for a terminal and for the docs page of shipped policies."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TypeVar

from armarl.arena.policy_card import WINS, Card, Measured, Row, Training
from armarl.common.messages import listed, printable

_MOST_SHOWN = 6  # maximum number of curve rows; a card with 15 opponents then fits into 40 lines
_WIDTH, _LABEL, _BAR = 100, 10, 24  # widths of a line, a label, and a curve's longest bar

T = TypeVar("T")


def card_text(card: Card) -> str:
    """Format a card for a terminal.

    Example:
        >>> from armarl import read_card
        >>> print(card_text(read_card("armadora-2p")).splitlines()[0])
        armadora-2p: armadora for 2 players, advanced=False, peek=True
    """
    return "\n".join(map(printable, "\n".join(_lines(card)).split("\n")))


def facts(card: Card) -> dict[str, str]:
    """Return the facts of a card by label, without its matches and its curve."""
    training = card.training
    seed = None if training.seed is None else f"seed {training.seed}"
    decisions = None if training.decisions is None else f"{training.decisions:,} decisions"
    minutes = None if training.minutes is None else f"{training.minutes:g} minutes"
    threads = None if training.threads is None else f"threads: {training.threads}"
    learner = [training.learner, seed, decisions, minutes, threads]
    words = {
        "variant": variant(card),
        "rules": versions(card),
        "plays": card.plays,
        "network": _layers(card),
        "learner": ", ".join(part for part in learner if part),
        "hardware": ", ".join(f"{name} {what}" for name, what in training.hardware.items()),
        "start": training.head_start or "",
        "opponents": _opponents(training),
    }
    return {label: said for label, said in words.items() if said}


def variant(card: Card) -> str:
    """Return as text the game that a policy plays, with its options.

    Example:
        >>> from armarl import read_card
        >>> variant(read_card("armadora-2p"))
        'armadora for 2 players, advanced=False, peek=True'
    """
    options = [f"{name}={value}" for name, value in card.options.items()]
    return ", ".join([f"{card.game} for {card.players} players", *options])


def versions(card: Card) -> str:
    """Return as text the versions of the rules under which a policy was trained and measured.

    Example:
        >>> from armarl import read_card
        >>> versions(read_card("armadora-2p"))
        'learnt under version 0, measured under version 0'
    """
    measured = sorted({m.version for m in card.strength if m.version is not None})
    told = f"learnt under version {card.learnt_version}"
    if not measured:
        return told
    one_or_more = "version" if len(measured) == 1 else "versions"
    return f"{told}, measured under {one_or_more} {listed([str(one) for one in measured])}"


def version_note(card: Card, measured: Measured) -> str:
    """Return " (version N)" if another match of the card used later rules, otherwise ""."""
    versions = [match.version or 0 for match in card.strength]
    return f" (version {measured.version})" if (measured.version or 0) < max(versions) else ""


def _layers(card: Card) -> str:
    """Format the widths of the network's layers and the number of its weights."""
    parts = [f"{part} {'-'.join(map(str, w))}" for part, w in card.network.items() if w]
    numbers = f"{card.parameters:,} weights"
    return f"{', '.join(parts)}: {numbers}" if parts else numbers


def _lines(card: Card) -> Iterator[str]:
    yield f"{card.name}: {variant(card)}\n"
    for label, words in facts(card).items():
        if label != "variant":
            yield _labelled(label, words)
    yield _labelled("retrain", card.again or "no command; `info --json` shows the settings")
    if card.strength:
        yield f"\nstrength, seed {', '.join(map(str, sorted({m.seed for m in card.strength})))}"
        yield from _strength_table(card)
    if card.training.curve:
        yield "\ntraining, in short matches against the anchors; the bars show the rating"
        yield from _curve_table(card.training.curve)


def _opponents(training: Training) -> str:
    if training.share is None:
        return ""
    if not training.share:
        return "only itself"
    who = ", ".join(f"{name} {100 * part:.0f} %" for name, part in training.opponents.items())
    return f"in {100 * training.share:.0f} % of the games ({who}), otherwise itself"


def _labelled(label: str, words: str) -> str:
    return textwrap.fill(
        words,
        _WIDTH,
        initial_indent=f"{label:<{_LABEL}}  ",
        subsequent_indent=" " * (_LABEL + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _strength_table(card: Card) -> Iterator[str]:
    yield (
        f"{'opponent':<36}{'games':>7}{'win rate':>10}  {'95 % interval':<16}{'fair':>6}"
        f"{'cut short':>11}"
    )
    for measured in card.strength:
        standing, held_out = measured.standing, " (held out)" if measured.held_out else ""
        interval = f"{100 * standing.low:.1f} - {100 * standing.high:.1f} %"
        yield (
            f"{measured.opponent + held_out + version_note(card, measured):<36}{standing.games:>7}"
            f"{100 * standing.win_rate:>8.1f} %  {interval:<16}{100 * standing.fair:>4.0f} %"
            f"{standing.cut_short:>11}"
        )


def _curve_table(curve: Sequence[Row]) -> Iterator[str]:
    """Yield a table with some rows of a curve, including the first and the last."""
    anchors = list(dict.fromkeys(name for row in curve for name in row if name.startswith(WINS)))
    names = [name.removeprefix(WINS) for name in anchors]
    yield f"{'decisions':>14}{'rating':>8}  {'':<{_BAR}}" + "".join(
        f"  {name:>8}" for name in names
    )
    ratings = [row["rating"] for row in curve]
    low, high = min(0.0, *ratings), max(100.0, *ratings)
    for row in thinned(curve, _MOST_SHOWN):
        bar = "#" * round(_BAR * (row["rating"] - low) / (high - low))
        won = (f"{100 * row[name]:.0f} %" if name in row else "" for name in anchors)
        cells = (f"  {cell:>{max(8, len(name))}}" for cell, name in zip(won, names, strict=True))
        yield f"{row['decisions']:>14,.0f}{round(row['rating']):>8}  {bar:<{_BAR}}" + "".join(cells)


def thinned(rows: Sequence[T], most: int) -> list[T]:
    """Return at most `most` rows, evenly spaced, including the first and the last."""
    if len(rows) <= most:
        return list(rows)
    return [rows[round(k * (len(rows) - 1) / (most - 1))] for k in range(most)]
