"""Fixtures for the tests of the command line."""

import io

import pytest

from armarl.cli.__main__ import main


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Return a function that runs a command in an empty folder.

    It returns the command's status, output and error output.
    """
    monkeypatch.chdir(tmp_path)

    def run(*arguments, typed=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse exits this way
            status = stop.code
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        lines = shown.err.splitlines(keepends=True)
        told = "".join(line for line in lines if "compiling" not in line and "compiled" not in line)
        return status, shown.out, told

    return run
