"""Set up `.venv` and run the checks and tests of CI: `python3 scripts/run_tests.py`.

The script checks style, types and spelling, builds the documentation site, and runs all tests in
two processes.

    python3 scripts/run_tests.py --fast       a few tests of every folder, in under three minutes
    python3 scripts/run_tests.py --coverage   only the tests, with a report of the covered lines
    python3 scripts/run_tests.py -k arm_12    other arguments go to pytest
"""

from __future__ import annotations

import os
import sys

from setup_venv import ROOT, run, set_up

# The files or single tests that `--fast` runs. They include some from every folder of `tests/`.
FAST = (
    "analysis/test_leaks.py::test_differences_say_where",
    "analysis/test_leaks.py::test_a_game_can_be_given_by_its_name",
    "arena/test_ratings.py::test_ratings_find_known_strengths",
    "arena/test_ratings.py::test_the_anchor_has_rating_0_without_uncertainty",
    "arena/test_ratings.py::test_invalid_tests_are_refused",
    "cli/test_cli.py::test_every_command_has_help",
    "cli/test_info.py::test_info_describes_a_game",
    "cli/test_playing.py::test_a_person_can_play_at_the_terminal",
    "common/test_foreign_text.py",
    "compiler/test_bits.py",
    "core/test_immutable.py",
    "devices/test_gpu.py::test_a_missing_package_is_named",
    "devices/test_gpu.py::test_a_device_that_there_is_not_is_refused",
    "environments/test_registration.py::test_an_import_is_quick_and_prints_nothing",
    "environments/test_aec.py::test_a_whole_game",
    "environments/test_seat_env.py::test_an_episode",
    "findings/test_findings.py",
    "games/armada/test_chart.py",
    "games/armada/test_turn_rules.py",
    "games/armada/test_victory_rules.py",
    "games/armadora/test_rules.py",
    "games/armadora/test_secrets.py",
    "games/test_golden.py",
    "hostile/test_numbers.py",
    "hostile/test_charts.py",
    "matches/test_records.py::test_a_record_has_the_documented_lines",
    "matches/test_records.py::test_invalid_records_are_refused",
    "matches/test_records.py::test_a_stopped_game_can_be_recorded",
    "networks/test_judges.py::test_judges_that_do_not_fit_are_refused",
    "networks/test_networks.py::test_another_number_of_advisers_is_refused",
    "players/test_players.py",
    "policies/test_policies.py::test_the_metadata_can_be_read",
    "policies/test_policies.py::test_a_flipped_bit_is_noticed",
    "policies/test_policies.py::test_networks_that_do_not_fit_are_refused",
    "replays/test_replay.py::test_a_page_loads_nothing_and_runs_only_its_own_script",
    "replays/test_replay.py::test_armadora_is_described_in_sentences",
    "scripts/test_layers.py",
    "scripts/test_run_tests.py",
    "search/test_search.py::test_legal_actions_are_listed_and_drawn_from_the_mask",
    "search/test_search.py::test_wrong_options_are_refused",
    "training/test_adam.py",
    "training/test_config.py::test_a_missing_file_is_reported",
    "training/test_config.py::test_wrong_values_are_refused",
    "training/test_config.py::test_overrides_change_settings",
    "training/test_config.py::test_shipped_configurations_are_right",
    "games/kuhn_poker/test_kuhn_poker.py",
    "workers/test_workers.py",
    "web/test_server.py::test_a_key_is_only_for_its_seats",
    "web/test_table.py::test_a_request_that_is_sent_twice_acts_once",
)
PARALLEL = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "10")
# Tests that `--coverage` runs a second time, without compilation, to measure kernels. They take
# seconds.
PLAIN = ("games/armadora/test_rules.py", "games/armada/test_turn_rules.py", "games/kuhn_poker")


def files(names: tuple[str, ...]) -> list[str]:
    """Return the paths of test files, relative to the root of the repository."""
    return [f"tests/{name}" for name in names]


def check_style() -> None:
    """Check style, types and spelling. Exit if a check fails."""
    run(python, "ruff", "check", ".")
    run(python, "ruff", "format", "--check", ".")
    run(python, "mypy")
    run(python, "codespell_lib")


def measure_coverage(arguments: list[str]) -> None:
    """Run the tests, then some of them without compilation, and report the combined coverage.

    Coverage cannot measure compiled kernels, so the second run executes them as plain Python.
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
    # Tests start many processes. With this variable, each process would compile all its imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if "--coverage" in arguments:
        measure_coverage([argument for argument in arguments if argument != "--coverage"])
        sys.exit()
    fast = "--fast" in arguments
    arguments = [argument for argument in arguments if argument != "--fast"]
    check_style()
    if not fast:
        run(python, "mkdocs", "build", "--strict", "--quiet")
    run(python, "pytest", *PARALLEL, *(files(FAST) if fast else ()), *arguments)
