"""Files from strangers: pipes, links, growing files, results and configurations."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armarl.cli.shared_options import check_json
from armarl.common.files import append_whole, read_bytes, read_text, shorten, write_bytes
from armarl.environments.aec import RawAECEnv
from armarl.games.make_game import make_game
from armarl_training.config.training_config import ConfigError, load_config

GAME = make_game("armadora", board="mini")

posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")


@pytest.mark.parametrize(
    "data",
    [None, 7, "text", memoryview(b"x"), np.zeros(3)],
    ids=["none", "number", "text", "view", "array"],
)
def test_saved_games_are_bytes(data: Any) -> None:
    env = RawAECEnv(GAME)
    env.reset(seed=0)
    with pytest.raises(TypeError, match="a saved game must be bytes"):
        env.load_state(data)


@pytest.mark.parametrize(
    "text",
    ["seed: !!float ''", "seed: !!timestamp x", f"seed: !!int '0x{'f' * 5000}'", "? {a: 1}\n: 1\n"],
    ids=["float", "timestamp", "hexadecimal", "key"],
)
def test_yaml_that_makes_its_parser_fail_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert len(str(caught.value)) < 500


def test_two_threads_can_write_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: both threads used the same temporary file.

    A reader found half a file, and a writer did not find its file.
    """
    path, fsync = tmp_path / "policy", os.fsync
    written: list[bytes] = []

    def another(number: int) -> None:
        fsync(number)
        if not written:
            written.append(b"of another thread")
            write_bytes(path, written[0])
            assert path.read_bytes() == written[0]

    monkeypatch.setattr("armarl.common.files.os.fsync", another)
    write_bytes(path, b"of the first")
    assert path.read_bytes() == b"of the first"
    assert [one.name for one in tmp_path.iterdir()] == ["policy"]


@posix
def test_a_pipe_that_replaces_a_checked_file_does_not_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: a pipe could replace the file between its check and its opening."""
    path = tmp_path / "policy.safetensors"
    os.mkfifo(path)
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    for read in (read_bytes, read_text):
        with pytest.raises(ValueError, match="it is not a file"):
            read(path, 100)


def test_growing_files_are_read_only_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(100))
    assert read_bytes(path, 100) == bytes(100)
    with pytest.raises(ValueError, match="larger than 99 bytes"):
        read_bytes(path, 99)
    if os.name == "posix":
        with pytest.raises(ValueError, match="it is not a file"):
            read_bytes(Path("/dev/zero"), 100)


@posix
def test_records_are_not_written_to_a_pipe_without_a_reader(tmp_path: Path) -> None:
    """Regression: the command waited for a reader."""
    path = tmp_path / "games.txt"
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"games\.txt"):
        append_whole(path, b"a record")


@posix
def test_a_pipe_with_a_reader_gets_all_records(tmp_path: Path) -> None:
    path, content = tmp_path / "games.txt", b"a record\n" * 100_000
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as reader:
        found = reader.submit(path.read_bytes)
        deadline = time.monotonic() + 60
        while True:
            try:
                append_whole(path, content)
                break
            except OSError:  # the reader has not opened the pipe yet
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert found.result(60) == content


@posix
def test_a_link_that_replaces_a_tournament_s_games_is_not_followed(tmp_path: Path) -> None:
    """Regression: the file was checked when the folder was locked, but not when it was opened."""
    mine, path = tmp_path / "mine", tmp_path / "games.jsonl"
    mine.write_bytes(b"mine")
    path.symlink_to(mine)
    with pytest.raises(OSError, match=r"games\.jsonl"):
        append_whole(path, b"more", ours=True)
    with pytest.raises(OSError, match=r"games\.jsonl"):
        shorten(path, 0)
    assert mine.read_bytes() == b"mine"
    append_whole(path, b", more")  # a file that the user names may be a link
    assert mine.read_bytes() == b"mine, more"


@pytest.mark.parametrize("kind", ["large", "deep"])
def test_an_earlier_result_is_read_only_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Regression: `--json` read all of a file that it might replace, whatever its size."""
    path = tmp_path / "result.json"
    path.write_text("[" * 100_000)
    if kind == "large":
        path.write_text("[1]" + " " * 100)
        check_json(path)
        monkeypatch.setattr("armarl.cli.shared_options._MOST_RESULT", 100)
    with pytest.raises(ValueError, match="does not contain JSON"):
        check_json(path)


@pytest.mark.parametrize("number", ["1e5000", "1:1", "1_e5", "0o7", "-0b", "''", "x", "1.5"])
def test_an_explicit_yaml_tag_allows_no_larger_numbers(tmp_path: Path, number: str) -> None:
    """Regression: with a tag, a line of twenty characters became a number of gigabytes."""
    path = tmp_path / "run.yaml"
    path.write_text(f"seed: !!int {number}", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not a whole number"):
        load_config(path)
    path.write_text("seed: !!int 3e1\ntotal_decisions: 9", encoding="utf-8")
    assert load_config(path).seed == 30
