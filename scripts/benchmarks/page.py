"""The results as Markdown, for the script's output and for the page in the docs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks import aec, learners, learning, search
from benchmarks.frame import ratio
from benchmarks.ours import BATCH, WITH
from benchmarks.targets import Rows, chosen

Key = Callable[[dict[str, Any]], str]

_MOST_NAMED = 5  # longer lists of missing measurements are given by their number
SECTIONS = {
    "playouts": (
        "Playouts",
        "Actions per second of random legal play from the deal to the end, in compiled loops. "
        f"Every decision computes the full action mask. {BATCH} games run at a time.",
    ),
    "steps": (
        "Steps",
        f"Steps per second of batches of {BATCH} games, stepped in lockstep from Python. Games "
        "that end are reset. A step includes the choice of a random legal action by a compiled "
        "function. Other libraries return the observation and the mask with every step. OpenSpiel "
        "has no batches and plays one game. In a compiled loop, the results of the steps are not "
        "used.",
    ),
    "scaling": (
        "Scaling with batch and threads",
        "Steps per second, measured as in the section above, by the number of games in the batch.",
    ),
    "aec": (
        "PettingZoo AEC",
        "Steps per second on one core, and the ratio to PettingZoo's connect four, which was "
        "sampled alternately. A step is `last`, a random legal action and `step`.",
    ),
    "vector": (
        "Gymnasium vector environments",
        "The learner's decisions per second. Opponents play at random.",
    ),
    "learning": (
        "MaskablePPO end to end",
        "The learner's decisions per second, including rollouts and updates, and the ratio to a "
        "free environment, which was sampled alternately. A free environment has the same spaces "
        f"and costs no time. All runs, even with DummyVecEnv, use {learning.ENVIRONMENTS} "
        f"environments, rollouts of {learning.ROLLOUT}, minibatches of {learning.MINIBATCH}, "
        f"{learning.EPOCHS} epochs, SB3's default network, and one torch thread per core.",
    ),
    "learners": (
        "Learners",
        "Decisions per second that a learner learns from, including rollouts and updates, with the "
        f"settings and the network of MaskablePPO end to end ({learners.WIDTHS} for policy and "
        "critic). Our learner learns from every seat, and its critic reads the observations of all "
        "seats. The forward and backward passes of its networks alone are an upper limit.",
    ),
    "search": (
        "Search",
        f"Simulations per second on one core. Each search has {search.SIMULATIONS} simulations for "
        "the first decision after the deal. A game of Armada ends after `max_turns` turns, summed "
        "over the colours. For comparison, the table also has the parts of a simulation, measured "
        "separately, and OpenSpiel's ISMCTS (in C++) in games that it supports.",
    ),
    "memory": ("Memory", "Sizes in bytes."),
    "start": (
        "Start-up and compilation",
        "Wall-clock seconds in a new Python process. The first use of a variant's rules on a "
        "machine compiles them into the user's cache folder.",
    ),
    "gpu": (
        "On a GPU",
        "On one GPU, by the number of games in the batch: random games to their end, and steps in "
        "lockstep that include the choice of a random legal action. A CUDA graph needs no calls "
        "from Python. Pgx runs on the same GPU. The learner's figures are decisions of all seats "
        "that it learns from, including rollouts and updates. See docs/environments/gpu.md.",
    ),
}


def page(results: dict[str, Any]) -> str:
    """Return the whole page."""
    rows: Rows = results["results"]
    parts = [_head(results), _targets(results["targets"])]
    for section in SECTIONS:
        if chosen(rows, section=section):
            parts.append(_section(section, rows))
    if "older" in results:
        parts.append(comparison(results["older"]))
    parts.append(_not_measured(rows))
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(results: dict[str, Any]) -> str:
    machine, settings = results["machine"], results["settings"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    pinned = (
        "pinned to its cores" if machine["pinned"] else "not pinned (this system has no pinning)"
    )
    quick = (
        " **This is a quick run: it has only some measurements, which are too short.**"
        if settings["quick"]
        else ""
    )
    note = f" {results['note']}" if "note" in results else ""  # a person may add it to the JSON
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "This page compares the speed, memory use and start-up time of ArmaRL with other "
            "libraries and with targets. `python scripts/benchmark.py` takes the measurements. "
            f"With `--page` it writes this page from `docs/environments/benchmarks.json`.{quick}",
            "",
            f"One run on {machine['date']}: {machine['processor']}, {machine['cores']} cores, "
            f"{machine['memory_gib']} GiB, {machine['system']}, Python {machine['python']}; "
            f"load before the run {machine['load_before']}. {packages}.{note}",
            "",
            "How to read the figures:",
            "",
            f"- Every measurement runs in its own process, {pinned}, with one thread per core. The "
            "processes of a group take their samples alternately, in rounds, so that noise affects "
            "all of them alike.",
            f"- Figures are medians of {settings['repeats']} samples of at least "
            f"{settings['seconds']:g} s, with the minimum and the maximum (fewer samples for "
            "memory and start-up). A ratio is the median of the rounds' ratios.",
            "- `*`: the process used its one core for less than nine tenths of the time, so the "
            "figure is too low.",
            "- Only CPUs are measured. The games differ, so a ratio says how many steps a learner "
            "gets, not which code is better.",
        ]
    )


def _targets(targets: list[dict[str, Any]]) -> str:
    says = {True: "yes", False: "**no**", None: "not measured"}
    lines = ["## Targets", "", "| target | wanted | measured | met |", "| --- | --- | --- | --- |"]
    for target in targets:
        measured = "" if target["measured"] is None else number(target["measured"])
        wanted, met = f"{target['is']} {number(target['wanted'])}", says[target["met"]]
        lines.append(f"| {target['target']} | {wanted} | {measured} | {met} |")
    lines += ["", "The tests check that a game is the same when it is played alone and in batches."]
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


def comparison(older: dict[str, Any]) -> str:
    """Return the section that compares this version with an older commit (see `older.compare`)."""
    commit = older["commit"]
    lines = [
        f"## Compared with {commit}",
        "",
        "Some of these measurements were repeated for this version and an older commit, "
        "alternately, on one core. Each ratio is the median of the ratios of the rounds. A ratio "
        "above 1 means faster (for bytes: larger).",
        "",
        _line(["", "", "batch", "unit", commit, "now", f"now / {commit}"]),
        _line(["---"] * 7),
    ]
    for row in older["rows"]:
        cells = [row["subject"], row["how"], str(row["batch"] or ""), row["unit"]]
        if "failed" in row:
            cells += [row["failed"], "", ""]
        else:
            cells += [number(row["before"]), number(row["now"]), f"{row['ratio']:.2f}"]
        lines.append(_line(cells))
    return "\n".join(lines)


def _cores(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def _batch(row: dict[str, Any]) -> str:
    return f"batch {row['batch']}"


def _table(
    rows: Rows, column: Key, base: str | None = None, names: tuple[str, ...] = ("subject", "how")
) -> list[str]:
    """Return a table with one line per combination of values of the fields `names`.

    With `base`, each number is followed by its ratio to the row whose subject or `how` is `base`.
    """
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
    """Return whether `row` is the result with which the table compares the result `of`."""
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
    """Format a number with three significant digits, such as 6.12 M, 345 k or 0.912."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= 0.9995 * size:
            return _three_digits(value / size) + letter
    return _three_digits(value)


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def _peers_ahead(rows: Rows) -> list[str]:
    """Return a Markdown list: for each peer, our games that are slower than its fastest run."""
    lines = ["Comparison with other libraries, for steps with the mask and the observation:", ""]
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
            name = f"{peer} ({number(row['median'])} {row['unit']})"
            if behind:
                said = f"{name} is faster than {'; '.join(behind)}"
            else:
                said = f"every ArmaRL game in the table is faster than {name}"
            lines.append(f"- {_cores(cores)}: {said}.")
    return lines


def _not_measured(rows: Rows) -> str:
    """List the measurements that failed or lack a package or device, with the reasons."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        name = ", ".join(filter(None, [row["subject"], row["how"]]))
        if "failed" in row:
            reason = f"failed: {row['failed']}"
        elif "missing" in row:
            reason = f"`{row['missing']}` is not installed"
        elif "lacking" in row:
            reason = row["lacking"]
        else:
            continue
        names = reasons.setdefault(reason, {}).setdefault(row["section"], [])
        if name not in names:
            names.append(name)
    lines = []
    for reason, sections in reasons.items():
        for section, names in sections.items():
            what = "; ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} measurements"
            lines.append(f"- {SECTIONS[section][0]}: {what}. Reason: {reason}.")
    return "\n".join(["## Not measured", "", *lines]) if lines else ""
