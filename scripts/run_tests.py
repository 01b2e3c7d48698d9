"""Set up `.venv` and run what CI runs: `python3 scripts/run_tests.py`.

It checks style, types, spelling, the documentation as a site, and runs all tests on two processes.

    python3 scripts/run_tests.py --fast       a few tests of every folder, in under three minutes
    python3 scripts/run_tests.py --coverage   all tests, then the share of lines that they run
    python3 scripts/run_tests.py -k arm_12    other arguments go to pytest
"""

from __future__ import annotations

import os
import sys

from setup_venv import ROOT, run, set_up

# At least one file of every folder in `tests/`; a test checks that.
FAST = (
    "analysis/test_leaks.py",
    "arena/test_policy_cards.py",
    "compiler/test_bits.py",
    "core/test_determinisation.py",
    "core/test_immutable.py",
    "core/test_observation.py",
    "environments/test_aec_stack.py",
    "environments/test_masks.py",
    "environments/test_open_spiel.py",
    "games/armada/test_chart.py",
    "games/armada/test_turn_rules.py",
    "games/armada/test_victory_rules.py",
    "games/armadora/test_rules.py",
    "games/armadora/test_secrets.py",
    "games/kuhn_poker/test_kuhn_poker.py",
    "games/test_golden.py",
    "hostile/test_numbers.py",
    "hostile/test_states.py",
    "matches/test_matches.py",
    "networks/test_judges.py",
    "players/test_wrappers.py",
    "policies/test_onnx.py",
    "scripts/test_layers.py",
    "scripts/test_shipping.py",
    "search/test_judged_search.py",
    "training/test_config.py",
    "training/test_passes.py",
    "training/test_sb3.py",
    "training/test_transfer.py",
    "workers/test_workers.py",
)
PARALLEL = ("-n", "2", "--dist", "loadfile", "--durations", "10")
# Tests that reach every kernel in seconds when nothing is compiled.
PLAIN = ("games/armadora/test_rules.py", "games/armada/test_turn_rules.py", "games/kuhn_poker")


def files(names: tuple[str, ...]) -> list[str]:
    """Paths of test files from the root of the repository."""
    return [f"tests/{name}" for name in names]


def check_style() -> None:
    """Style, types and spelling."""
    run(python, "ruff", "check", ".")
    run(python, "ruff", "format", "--check", ".")
    run(python, "mypy")
    run(python, "codespell_lib")


def measure_coverage(arguments: list[str]) -> None:
    """Run the tests, then some of them without compiling, and report both together.

    Coverage cannot see into compiled kernels, so the second part runs them as plain Python.
    """
    measured = ["--cov", "armarl", "--cov", "armarl_training", "--cov-report", ""]
    run(python, "pytest", *measured, *(arguments or PARALLEL))
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    run(python, "pytest", *measured, "--cov-append", "-n", "2", *files(PLAIN))
    run(python, "coverage", "report", "--skip-covered", "--sort", "cover")
    run(python, "coverage", "html", "--quiet", "--directory", str(ROOT / "build" / "coverage"))
    print(f"every line: {ROOT / 'build' / 'coverage' / 'index.html'}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    python = set_up("test")
    if "--coverage" in arguments:
        measure_coverage([argument for argument in arguments if argument != "--coverage"])
        sys.exit()
    fast = "--fast" in arguments
    arguments = [argument for argument in arguments if argument != "--fast"]
    check_style()
    if not fast:
        run(python, "mkdocs", "build", "--strict", "--quiet")
    run(python, "pytest", *PARALLEL, *(files(FAST) if fast else ()), *arguments)
