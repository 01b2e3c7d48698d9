"""The performance targets, and their comparison with the measurements."""

from __future__ import annotations

from typing import Any

from benchmarks import aec, learners, learning, memory, start
from benchmarks.frame import ratio
from benchmarks.ours import BATCH, OWN_LOOP, WITH, title
from benchmarks.peers import CALL, LOOP

Rows = list[dict[str, Any]]

ARMADORA = title(("armadora", {"players": 2}))
ADVANCED = title(("armadora", {"players": 2, "advanced": True}))
ARMADA = title(("armada", {"players": 2, "cards": True}))


def chosen(rows: Rows, **wanted: Any) -> Rows:
    """Return the rows with the wanted values that also have a result."""
    return [
        row
        for row in rows
        if "median" in row and all(row[name] == value for name, value in wanted.items())
    ]


def targets(rows: Rows, cores: int) -> list[dict[str, Any]]:
    """Return every target with its measurement (None if missing) and whether it is met.

    `cores` is the number of the machine's cores.
    """
    return [
        *(_playouts(rows, *promise) for promise in _PLAYOUTS),
        *(_steps(rows, *promise) for promise in _STEPS),
        *(_against_pgx(rows, cores, *ways) for ways in ((WITH, CALL), (OWN_LOOP, LOOP))),
        *(_against_free(rows, subject, cores) for subject in (ARMADORA, ARMADA)),
        *(_against_maskable_ppo(rows, subject) for subject in (ARMADORA, ARMADA)),
        *(
            _against_connect_four(rows, game, face, least)
            for game, wanted in _AEC.items()
            for face, least in zip(aec.FACES, wanted, strict=True)
        ),
        *(_first_use(rows, game) for game in ("Armadora", "Armada")),
        *(
            _bytes(rows, f"{title(variant)}: bytes of state", title(variant), memory.STATE, 1024)
            for variant in memory.VARIANTS
        ),
        _bytes(rows, f"{ARMADORA}: bytes of a million states", ARMADORA, memory.MILLION, 10**9),
    ]


_PLAYOUTS = ((ARMADORA, 6e6), (ADVANCED, 4e6), (ARMADA, 5e5))
_AEC = {"Armadora": (9, 6), "Armada": (2, 2)}  # minimum ratios, for `env()` and `raw_env()`
_STEPS = ((ARMADORA, 2e6), (ARMADA, 2.5e5))


def _playouts(rows: Rows, subject: str, least: float) -> dict[str, Any]:
    found = chosen(rows, section="playouts", subject=subject, cores=1)
    return _at_least(f"{subject}: playouts on one core, actions/s", least, _median(found))


def _steps(rows: Rows, subject: str, least: float) -> dict[str, Any]:
    found = chosen(rows, section="steps", subject=subject, how=WITH, cores=1)
    name = f"{subject}: {WITH}, batch {BATCH} on one core, steps/s"
    return _at_least(name, least, _median(found))


def _against_pgx(rows: Rows, cores: int, own_way: str, pgx_way: str) -> dict[str, Any]:
    """Compare the speeds of Armadora and of Pgx's connect_four in its fastest form.

    `own_way` and `pgx_way` say whether both are called once per step or run in compiled loops.
    """
    ours = chosen(rows, section="steps", subject=ARMADORA, how=own_way, cores=cores)
    peers = [
        row
        for row in chosen(rows, section="steps", subject="Pgx connect_four", cores=cores)
        if row["how"].startswith(pgx_way)
    ]
    measured = min((ratio(ours[0], peer) for peer in peers), default=None) if ours else None
    name = f"{ARMADORA}: {WITH} on {cores} cores, times Pgx connect_four, {pgx_way}"
    return _at_least(name, 1.5, measured)


def _against_free(rows: Rows, subject: str, cores: int) -> dict[str, Any]:
    ours, free = (
        chosen(rows, section="learning", subject=subject, how=how, cores=cores)
        for how in (learning.OURS, learning.FREE)
    )
    measured = ratio(ours[0], free[0]) if ours and free else None
    name = f"{subject}: MaskablePPO on {cores} cores, part of the speed with a free environment"
    return _at_least(name, 0.9, measured)


def _against_maskable_ppo(rows: Rows, subject: str) -> dict[str, Any]:
    found = [
        chosen(rows, section="learners", subject=subject, how=how)
        for how in (learners.OURS, learners.THEIRS)
    ]
    measured = ratio(found[0][0], found[1][0]) if all(found) else None
    return _at_least(f"{subject}: decisions our PPO learns from, times MaskablePPO", 5, measured)


def _against_connect_four(rows: Rows, game: str, face: str, least: float) -> dict[str, Any]:
    """Compare the speed of a game's slowest variant with that of PettingZoo's connect four."""
    peer = chosen(rows, section="aec", subject=aec.PEER, how=face)
    ours = [
        row
        for row in chosen(rows, section="aec", how=face)
        if row["subject"].startswith(f"{game},") and peer
    ]
    measured = min((ratio(row, peer[0]) for row in ours), default=None)
    return _at_least(f"{game}, slowest variant: AEC {face}, times {aec.PEER}", least, measured)


def _first_use(rows: Rows, game: str) -> dict[str, Any]:
    measured = _median(chosen(rows, section="start", subject=game, how=start.FIRST_USE))
    return _at_most(f"{game}: {start.FIRST_USE}, seconds", 40, measured)


def _bytes(rows: Rows, name: str, subject: str, what: str, most: float) -> dict[str, Any]:
    measured = _median(chosen(rows, section="memory", subject=subject, how=what))
    return _at_most(name, most, measured)


def _median(rows: Rows) -> float | None:
    return float(rows[0]["median"]) if rows else None


def _at_least(name: str, least: float, measured: float | None) -> dict[str, Any]:
    met = None if measured is None else measured >= least
    return {"target": name, "wanted": least, "is": "at least", "measured": measured, "met": met}


def _at_most(name: str, most: float, measured: float | None) -> dict[str, Any]:
    met = None if measured is None else measured <= most
    return {"target": name, "wanted": most, "is": "at most", "measured": measured, "met": met}
