"""Documentation made from the files of the shipped policies: tables, and a section per policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from armarl.arena.policy_card import Card, Measured, read_card
from armarl.arena.policy_card_text import facts, version_note
from armarl.games.catalogue import OURS
from armarl.matches.standings import Standing
from armarl.players.registry import shipped_policies
from armarl.policies.saved_policy import load_policy
from armarl_training.run.exploit import Found, read_found
from armarl_training.run.progress import curve

ALWAYS = ("random", "greedy")  # the opponents in the table of all policies
# The tables give the number of games only for matches with fewer games than this. (Matches of 1,000
# games are rounded to whole rotations of the seats.)
USUAL = 998
CURVES = Path("images", "curves")  # folder of the drawings in docs/
BEST_RESPONSES = Path(__file__).resolve().parents[2] / "docs" / "playing" / "best-responses"


def cards() -> list[Card]:
    """Return the cards of all shipped policies, sorted by game, then by length of the name.

    Variants with more rules have longer names.
    """
    games = [entry.name for entry in OURS]
    found = [read_card(name) for name in shipped_policies()]
    return sorted(found, key=lambda card: (games.index(card.game), len(card.name), card.name))


def overview(cards: list[Card], page: str) -> str:
    """Return the table of all policies. Each name is a link to the policy's section of a page."""
    lines = [
        "| policy | trained | against random | against greedy |",
        "| --- | --- | --- | --- |",
    ]
    for card in cards:
        matches = {measured.opponent: measured for measured in card.strength}
        training = card.training
        effort = f"{training.decisions:,} decisions, {training.minutes:.0f} minutes"
        wins = [_cell(matches.get(opponent)) for opponent in ALWAYS]
        lines.append(_row(f"[`{card.name}`]({page}#{card.name})", effort, *wins))
    return "\n".join(lines)


def section(card: Card) -> str:
    """Return a policy's section as Markdown, without the heading."""
    lines = {**facts(card), "retrain": f"`{card.again}`"}
    parts = ["\n".join(f"- {label}: {words}" for label, words in lines.items())]
    if card.training.curve:
        parts.append(f"![Training curve of {card.name}](../{(CURVES / card.name).as_posix()}.svg)")
    if card.strength:
        parts.append("\n".join(_strength(card)))
    return "\n\n".join(parts)


def drawings(cards: list[Card]) -> Iterator[tuple[Path, str]]:
    """Yield the drawings of the policies' training curves, with their paths in docs/."""
    for card in cards:
        if card.training.curve:
            yield CURVES / f"{card.name}.svg", curve([dict(row) for row in card.training.curve])


def is_current(found: Found) -> bool:
    """Return whether results of `armarl exploit` are finished and measured on shipped weights."""
    name = found.recipe.player
    path = shipped_policies().get(name)
    same = path is not None and found.recipe.weights == load_policy(path).weights_digest()
    return same and found.match is not None


def best_responses(folder: Path) -> str:
    """Return the table of the shipped policies that `armarl exploit` has measured.

    `folder` contains the results. Results for earlier weights of a policy are left out.
    """
    measured = [*filter(is_current, map(read_found, sorted(folder.glob("*.json"))))]
    if not measured:
        return "No shipped policy has been measured in this way yet."
    lines = [
        "| policy | wins of the best response | fair | wins by seed, on the deals that select the "
        "best | training of the best | learner, first weights | processor |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *map(_best_response, measured)])


def _best_response(found: Found) -> str:
    config, match = found.recipe.config, found.match
    assert match is not None
    standing = match.standings[0]
    best = next(run for run in found.runs if run.seed == found.best)
    chosen = [100 * run.match.standings[0].win_rate for run in found.runs]
    return _row(
        f"`{found.recipe.player}`",
        _interval(standing),
        f"{100 * standing.fair:.1f} %",
        ", ".join(f"{rate:.1f} %" for rate in chosen),
        f"{best.decisions:,} decisions, {best.minutes:.0f} minutes",
        f"{config.learner}, {config.start_from or 'random'}",
        str(best.hardware["processor"]),
    )


def _strength(card: Card) -> Iterator[str]:
    """Yield the lines of a table with a row for every opponent, the strongest first."""
    yield "| opponent | win rate | fair | cut short |"
    yield "| --- | --- | --- | --- |"
    for measured in sorted(card.strength, key=lambda measured: measured.standing.win_rate):
        opponent, standing = f"`{measured.opponent}`", measured.standing
        opponent = f"held out: {opponent}" if measured.held_out else opponent
        opponent += version_note(card, measured)
        yield _row(
            opponent, _cell(measured), f"{100 * standing.fair:.1f} %", str(standing.cut_short)
        )


def _cell(measured: Measured | None) -> str:
    if measured is None:
        return ""
    return _interval(measured.standing)


def _interval(found: Standing) -> str:
    rate, low, high = (100 * part for part in (found.win_rate, found.low, found.high))
    games = "" if found.games >= USUAL else f" of {found.games}"
    return f"{rate:.1f} % ({low:.1f} to {high:.1f}){games}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
