"""The notebook `docs/tour.ipynb` runs from its first cell to its last and shows what it says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TOUR = Path(__file__).resolve().parents[2] / "docs" / "tour.ipynb"


def test_the_tour_runs(monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    tour = nbformat.read(TOUR, as_version=4)
    assert not any(cell.get("outputs") for cell in tour.cells)  # outputs would become outdated
    training = next(cell for cell in tour.cells if "start_run" in cell.source)
    for setting, fewer in {"decisions=40_000": "decisions=4_000", "games=256": "games=32"}.items():
        assert setting in training.source
        training.source = training.source.replace(setting, fewer)
    nbclient.NotebookClient(tour, timeout=600, kernel_name="python3").execute()
    shown = [
        kind
        for cell in tour.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    ]
    assert shown.count("image/svg+xml") == 4  # a deal, the end of a game, a position, a curve
    page = next(
        output["data"]["text/html"]
        for cell in tour.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    )
    assert page.startswith("<iframe ")
    assert "&quot;thoughts&quot;" in page
