"""Set up `.venv` and run everything that CI runs: `python3 scripts/run_tests.py`.

These are style, types, the documentation site, and tests. Further arguments go to pytest:
`python3 scripts/run_tests.py -k arm_12`.
"""

from __future__ import annotations

import sys

from setup_venv import run, set_up

if __name__ == "__main__":
    python = set_up("test")
    run(python, "ruff", "check", ".")
    run(python, "ruff", "format", "--check", ".")
    run(python, "mypy")
    run(python, "mkdocs", "build", "--strict", "--quiet")
    run(python, "pytest", *(sys.argv[1:] or ["-n", "2"]))
