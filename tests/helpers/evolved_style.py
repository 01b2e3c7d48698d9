"""Tests of `scripts/experiments/evolve_style.py`.

`test_styles.py` runs this file in a separate process, because `evolve_style.py` changes how kernels
read the style table: from memory, not as a constant.
"""

from __future__ import annotations

import json

import numpy as np

import evolve_style
from armarl.games.armada import styles

GAMES = 48


def test_evolution(tmp_path):
    evolution = evolve_style.Evolution(2, False, GAMES, "raider", seed=0)
    conqueror, raider = (styles.GREEDY_STYLES.index(name) for name in ("conqueror", "raider"))
    first = styles.FIRST_ROWS[raider, 0]
    numbers = styles.STYLES[first : first + evolve_style.STANCES]
    assert (evolution.means == numbers).all()

    def won():
        """Return the candidates' returns in the same games, with the numbers in the style table."""
        return evolution._play(np.random.default_rng(1), np.full(GAMES, conqueror), 0.3)

    evolution._put(1, np.tile(numbers, (GAMES, 1, 1)))
    ours, rows = won(), evolution._first.copy()
    assert set(np.unique(ours)) <= {-1.0, 0.0, 1.0}
    evolution._first[len(styles.GREEDY_STYLES) + 1 :] = first  # the numbers of the style `raider`
    assert (won() == ours).all()
    evolution._first[:] = rows
    idle = np.tile(numbers, (GAMES, 1, 1))
    # The numbers of a style that never moves, and therefore rarely wins.
    idle[..., evolve_style.NAMES.index("MOVE_WORTH")] = 0
    idle[..., evolve_style.NAMES.index("ODDS")] = 100
    evolution._put(1, idle)
    assert won().mean() < ours.mean()

    path = tmp_path / "numbers.json"
    evolution.step(4.0, 0.2)
    evolve_style.kept(path, evolution, {"players": 2})
    evolution.step(4.0, 0.2)
    after = evolution.means
    assert (after >= evolve_style.LOWEST).all()
    assert (after <= evolve_style.HIGHEST).all()
    assert not np.array_equal(after, numbers)
    found = json.loads(path.read_text())
    evolution.means, evolution.generation = np.array(found["numbers"]), found["generation"]
    evolution.step(4.0, 0.2)
    assert np.array_equal(evolution.means, after)  # a continued evolution gives the same numbers
    written = evolve_style.as_source(after).replace("{", "{ ").splitlines()[1:-1]
    assert len(written) == len(styles.CONQUEROR)
    assert [line.split(":")[0].strip() for line in written] == evolve_style.NAMES
