"""The results as Markdown: what the script prints, and the page in the docs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks import aec, learners, learning, search
from benchmarks.frame import ratio
from benchmarks.ours import BATCH, WITH
from benchmarks.targets import Rows, chosen

Key = Callable[[dict[str, Any]], str]

SECTIONS = {
    "playouts": (
        "Playouts",
        "Random legal play from the deal to the end inside the compiled loops, with the full mask "
        f"of legal actions at every decision, {BATCH} games at a time; actions per second.",
    ),
    "steps": (
        "Steps",
        f"Batches of {BATCH} games stepped in lockstep from Python, games that end beginning anew. "
        "A step includes the choice of a random legal action by a compiled function. Peers give "
        "observation and mask with every step; OpenSpiel has no batch and plays one game. In a "
        "compiled loop nothing uses what the steps give. Steps per second.",
    ),
    "scaling": (
        "Scaling with batch and threads",
        "The same by the number of games in the batch; steps per second.",
    ),
    "aec": (
        "PettingZoo AEC",
        "`last`, a random legal action, `step`, on one core; steps per second, and the ratio to "
        "PettingZoo's connect four in the same rounds.",
    ),
    "vector": (
        "Gymnasium vector environments",
        "The learner's decisions per second; opponents play at random.",
    ),
    "learning": (
        "MaskablePPO end to end",
        "The learner's decisions per second, rollouts and updates included, and the ratio to the "
        f"free environment in the same rounds. {learning.ENVIRONMENTS} environments (DummyVecEnv "
        f"as well), rollouts of {learning.ROLLOUT}, minibatches of {learning.MINIBATCH}, "
        f"{learning.EPOCHS} epochs, SB3's default network, as many torch threads as cores.",
    ),
    "learners": (
        "Learners",
        "Decisions learned from per second, rollouts and updates included, with the settings of "
        f"MaskablePPO end to end and its network ({learners.WIDTHS} for policy and critic). Ours "
        "learns from every seat; its critic reads what all seats see. Beside it its networks' "
        "forward and backward passes alone, which are the limit.",
    ),
    "search": (
        "Search",
        f"Simulations per second on one core, {search.SIMULATIONS} for the first decision after "
        "the deal; Armada is cut after some turns of colours (`max_turns`). Beside them what they "
        "are made of, done alone as often as a second allows, and OpenSpiel's ISMCTS (in C++) in "
        "games that it takes.",
    ),
    "memory": ("Memory", "Bytes."),
    "start": (
        "Start-up and compilation",
        "Seconds by the clock in a new Python process. The first use of a variant's rules on a "
        "machine compiles them into the user's cache folder.",
    ),
    "gpu": (
        "On a GPU",
        "By the number of games in the batch, on one GPU: random games to their end, and steps in "
        "lockstep that include the choice of a random legal action. A CUDA graph spares the calls "
        "from Python. Pgx runs on the same card. The learner's are decisions learned from, of all "
        "seats, rollouts and updates included. See docs/gpu.md.",
    ),
}


def page(results: dict[str, Any]) -> str:
    """The whole page."""
    rows: Rows = results["results"]
    parts = [_head(results), _targets(results["targets"])]
    for section in SECTIONS:
        if chosen(rows, section=section):
            parts.append(_section(section, rows))
    parts.append(_not_measured(rows))
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(results: dict[str, Any]) -> str:
    machine, settings = results["machine"], results["settings"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    pinned = (
        "is held to its cores"
        if machine["pinned"]
        else "is not held to any cores (no pinning here)"
    )
    quick = (
        " **A quick run: some measurements only, too short to mean much.**"
        if settings["quick"]
        else ""
    )
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "Made by `python scripts/benchmark.py`; `--page` writes this page from "
            f"`docs/benchmarks.json`.{quick}",
            "",
            f"One run on {machine['date']}: {machine['processor']}, {machine['cores']} cores, "
            f"{machine['memory_gib']} GiB, {machine['system']}, Python {machine['python']}; "
            f"load before the run {machine['load_before']}. {packages}.",
            "",
            f"Every measurement has a process of its own that {pinned}, with as many threads. "
            "The processes of a group give their samples in turns, so that noise falls on all "
            f"alike. Given are medians of {settings['repeats']} samples of at least "
            f"{settings['seconds']:g} s, with the least and the greatest (fewer samples for memory "
            "and start-up). A ratio is the median of the rounds' ratios. `*`: the process did "
            "not get its one core for more than nine tenths of the time, so the figure is too low.",
            "",
            "Only processors are measured. Different games are compared, so a ratio says how much "
            "play a learner gets, not whose code is better.",
        ]
    )


def _targets(targets: list[dict[str, Any]]) -> str:
    says = {True: "yes", False: "**no**", None: "not measured"}
    lines = ["## Targets", "", "| target | wanted | measured | met |", "| --- | --- | --- | --- |"]
    for target in targets:
        measured = "" if target["measured"] is None else number(target["measured"])
        wanted, met = f"{target['is']} {number(target['wanted'])}", says[target["met"]]
        lines.append(f"| {target['target']} | {wanted} | {measured} | {met} |")
    lines += ["", "That a game is the same alone and in every batch is held by the tests."]
    return "\n".join(lines)


def _section(section: str, rows: Rows) -> str:
    heading, about = SECTIONS[section]
    own = chosen(rows, section=section)
    lines = [f"## {heading}", "", about, ""]
    if section == "scaling":
        for cores in sorted({row["cores"] for row in own}):
            lines += [f"On {_cores(cores)}:", "", *_table(chosen(own, cores=cores), _batch), ""]
    elif section == "aec":
        lines += _table(own, lambda row: row["how"], base=aec.PEER, names=("subject",))
    elif section == "learning":
        lines += _table(own, lambda row: _cores(row["cores"]), base=learning.FREE)
    elif section == "learners":
        lines += _table(own, lambda row: row["unit"], base=learners.THEIRS)
    elif section == "gpu":
        lines += _table([row for row in own if row["batch"]], _batch)
        lines += ["", *_table([row for row in own if not row["batch"]], lambda row: row["unit"])]
    elif section in ("memory", "start"):
        lines += _table(own, lambda row: row["unit"])
    else:
        lines += _table(own, lambda row: _cores(row["cores"]))
    if section == "steps":
        lines += ["", *_peers_ahead(own)]
    return "\n".join(lines).rstrip()


def _cores(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def _batch(row: dict[str, Any]) -> str:
    return f"batch {row['batch']}"


def _table(
    rows: Rows, column: Key, base: str | None = None, names: tuple[str, ...] = ("subject", "how")
) -> list[str]:
    """One line per subject and way; with `base` each figure is followed by its ratio to that."""
    columns = list(dict.fromkeys(column(row) for row in rows))
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        cell = _cell(row)
        if base is not None:
            other = next(r for r in rows if _is_base(r, row, base))
            if other["unit"] == row["unit"]:
                cell += f", ×{ratio(row, other):.2f}"
        cells.setdefault(tuple(row[name] for name in names), {})[column(row)] = cell
    head = ["", *([""] * (len(names) - 1)), *columns]
    lines = [_line(head), _line(["---"] * len(head))]
    for line, values in cells.items():
        lines.append(_line([*line, *(values.get(name, "") for name in columns)]))
    return lines


def _is_base(row: dict[str, Any], of: dict[str, Any], base: str) -> bool:
    """Whether `row` is what `of`, a row of its group, is compared with."""
    if row["cores"] != of["cores"]:
        return False
    if row["subject"] == base:
        return bool(row["how"] == of["how"])
    return bool(row["how"] == base and row["subject"] == of["subject"])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(row: dict[str, Any]) -> str:
    text = number(row["median"])
    if row["low"] != row["high"]:
        text += f" ({number(row['low'])}–{number(row['high'])})"
    disturbed = row["unit"].endswith("/s") and row["cores"] == 1 and row["busy"] < 0.9
    return text + ("*" if disturbed else "")


def number(value: float) -> str:
    """Three significant digits: 6.12 M, 345 k, 0.912."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= 0.9995 * size:
            return _three_digits(value / size) + letter
    return _three_digits(value)


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def _peers_ahead(rows: Rows) -> list[str]:
    """For every peer, at its fastest, which of our games it is ahead of."""
    lines = ["Where peers are ahead, with mask and observation:", ""]
    for cores in sorted({row["cores"] for row in rows}):
        ours = [row for row in chosen(rows, cores=cores, how=WITH) if row["package"] == "armarl"]
        if not ours:
            continue
        fastest: dict[str, dict[str, Any]] = {}
        for row in chosen(rows, cores=cores):
            if row["package"] != "armarl":
                best = fastest.get(row["subject"], row)
                fastest[row["subject"]] = max(row, best, key=lambda r: float(r["median"]))
        for peer, row in fastest.items():
            behind = [
                f"{game['subject']} (×{ratio(row, game):.1f})"
                for game in ours
                if row["median"] > game["median"]
            ]
            said = "; ".join(behind) or "none of our games"
            lines.append(f"- {_cores(cores)}: {peer} ({number(row['median'])}) is ahead of {said}.")
    return lines


def _not_measured(rows: Rows) -> str:
    """What is not installed and what has failed; nothing is left out in silence."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        name = f"{row['section']}: {', '.join(filter(None, [row['subject'], row['how']]))}"
        if "lacking" in row:
            reasons.setdefault(row["lacking"], []).append(name)
        if "missing" in row:
            reasons.setdefault(f"`{row['missing']}` is not installed", []).append(name)
        if "failed" in row:
            reasons.setdefault(f"failed, {row['failed']}", []).append(name)
    lines = [f"- {why}: {'; '.join(dict.fromkeys(names))}" for why, names in reasons.items()]
    return "\n".join(["## Not measured", "", *lines]) if lines else ""
