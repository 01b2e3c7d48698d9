"""Saved policies from strangers. Each problem that the fuzzers found has a test."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tiny
from armarl.cli.__main__ import main
from armarl.common import json_text
from armarl.games.make_game import make_game
from armarl.networks.judge import layout_of
from armarl.policies import safetensors_file, saved_policy
from armarl.policies.safetensors_file import FORMAT, PolicyError, read_tensors, write_tensors
from armarl.policies.saved_policy import load_policy, policy_game, read_policy_metadata, save_policy

GAME = make_game("armadora", board="mini")

posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")


def test_deeply_nested_metadata_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: with a correct checksum, these metadata raised a RecursionError."""
    monkeypatch.setattr(
        "armarl.policies.safetensors_file.json.dumps", lambda metadata, **_how: "[" * 100_000
    )
    path = tmp_path / "deep.safetensors"
    write_tensors(path, tiny.tensors(GAME), {})
    with pytest.raises(PolicyError, match="is damaged"):
        load_policy(path, GAME)


@pytest.mark.parametrize("more", ["NaN", "Infinity", "1e999", '0, "more": 1'])
def test_metadata_that_are_not_plain_json_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    """Regression: the metadata were accepted, and `armarl info --json` printed invalid JSON."""

    def dumps(metadata: Any, **_how: Any) -> str:
        return f'{{"more": {more}, {json.dumps(metadata)[1:]}'

    monkeypatch.setattr(safetensors_file, "json", SimpleNamespace(dumps=dumps))
    path = tiny.policy(tmp_path, GAME)
    with pytest.raises(PolicyError, match="is damaged"):
        load_policy(path, GAME)
    with pytest.raises(PolicyError, match="is damaged"):
        read_policy_metadata(path)


@pytest.mark.parametrize(
    "adviser",
    ["/etc/passwd", "/dev/zero", "x" * 300, "SELF", "greedy+search:9", "greedy:noise=1"],
    ids=["file", "device", "long", "itself", "search", "noise"],
)
def test_advisers_of_a_policy_cannot_be_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adviser: str
) -> None:
    """Regression: advisers were made like other players, so files were opened.

    A policy that named itself as adviser gave an endless recursion.
    """
    path = tiny.policy(tmp_path, GAME)
    tensors, metadata = read_tensors(path, FORMAT)
    advisers = [str(path) if adviser == "SELF" else adviser]
    write_tensors(path, tensors, {**metadata, "advisers": advisers, "advice": "0" * 16})
    opened = []
    read = safetensors_file.read_tensors
    monkeypatch.setattr(
        saved_policy,
        "read_tensors",
        lambda path, *formats: opened.append(path) or read(path, *formats),
    )
    with pytest.raises(PolicyError, match="an adviser must be the scripted player"):
        load_policy(path, GAME)
    assert opened == [path]


@pytest.mark.parametrize("option", ["chart", "dice"])
@pytest.mark.parametrize("source", ["/etc/passwd", "/dev/zero", "PIPE", "standard.txt", 7])
def test_the_chart_of_a_policy_cannot_be_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, source: Any
) -> None:
    """Regression: the error quoted /etc/passwd, and /dev/zero and a pipe were read for ever."""
    path = tiny.policy(tmp_path, make_game("armada"))
    tensors, metadata = read_tensors(path, FORMAT)
    if source == "PIPE" and os.name == "posix":
        source = str(tmp_path / "pipe")
        os.mkfifo(source)
    metadata["variant"]["options"][option] = source
    write_tensors(path, tensors, metadata)
    opened: list[Path] = []
    monkeypatch.setattr("armarl.games.armada.chart.loading._text_of", opened.append)
    monkeypatch.setattr("armarl.games.armada.dice.read_text", opened.append)
    for load in (policy_game, load_policy):
        with pytest.raises(PolicyError, match=f"must contain the {option} itself"):
            load(path)
    assert not opened


@pytest.mark.parametrize("kind", ["F8_E4M3", "F8_E5M2", "F4", "BF16", "?"])
def test_numbers_of_types_unknown_to_numpy_are_refused(tmp_path: Path, kind: str) -> None:
    """Regression: with some of these types, safetensors raised an AttributeError."""
    path = tmp_path / "policy.safetensors"
    size = {"F4": 4, "BF16": 16}.get(kind, 8)
    _write_raw(path, {"a": {"dtype": kind, "shape": [8], "data_offsets": [0, size]}}, bytes(size))
    with pytest.raises(PolicyError, match="is damaged"):
        load_policy(path, GAME)


@pytest.mark.parametrize("number", [5_000, 100_000])
def test_more_tensors_than_a_network_needs_are_refused(tmp_path: Path, number: int) -> None:
    """Regression: a file of 30 MB kept a core busy for half a minute."""
    tensor = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    path = tmp_path / "policy.safetensors"
    _write_raw(path, {f"t{i}": tensor for i in range(number)})
    with pytest.raises(PolicyError, match=r"more than 4096 tensors|header is larger than 4 MiB"):
        load_policy(path, GAME)


def _judge(**changes: Any) -> dict[str, Any]:
    """Return the weights of a judge for the mini board, with changed numbers of units."""
    layout, units = layout_of(GAME), {"near": 4, "far": 4, "prizes": 3, "whole": 2, **changes}
    shapes = {
        "near.0": (units["near"], layout.features),
        "far.0": (units["far"], layout.rest),
        "prizes.0": (units["prizes"], units["near"]),
        "prizes.1": (layout.sides, units["prizes"]),
        "whole.0": (units["whole"], layout.whole),
        "whole.1": (1, units["whole"]),
        "direct.0": (1, layout.sides - 1),
    }
    tensors = {f"{name}.weight": np.zeros(shape, np.float32) for name, shape in shapes.items()}
    return tensors | {f"{name}.bias": np.zeros(n, np.float32) for name, (n, _) in shapes.items()}


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        (_judge(near=0, far=0), "must have 1 to 65536 outputs, not 0"),
        (_judge(prizes=0), "must have 1 to 65536 outputs, not 0"),
        (_judge(whole=70_000), "must have 1 to 65536 outputs, not 70000"),
        (_judge(far=5), "must have the same number of outputs, not"),
        (
            {**_judge(), "near.1.weight": np.zeros((4, 4), np.float32)},
            "part `near` must have 1 layer, not 2",
        ),
        ({**_judge(), "prizes.0.weight": np.zeros((3, 4, 1), np.float32)}, "does not fit"),
        ({**_judge(), "trunk.0.weight": np.zeros((4, 4), np.float32)}, "do not belong to any"),
        ({**_judge(), "direct.0.bias": np.full(1, np.inf, np.float32)}, "not finite"),
        (
            {"prizes.0.weight": np.zeros((2, 2), np.float32)},
            "the part `near` must have 1 layer, not 0",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_judges_of_other_shapes_are_refused(tmp_path: Path, tensors: Any, reason: str) -> None:
    """The compiled code reads the layers without bounds checks."""
    path = tmp_path / "judge.safetensors"
    save_policy(path, GAME, _judge(), "relu")
    load_policy(path, GAME)
    write_tensors(path, tensors, read_tensors(path, FORMAT)[1])
    with pytest.raises(PolicyError, match=reason):
        load_policy(path, GAME)


@pytest.mark.parametrize("key", ["network", "survey", "activation", "advice", "advisers"])
def test_text_of_a_policy_cannot_control_the_terminal(tmp_path: Path, key: str) -> None:
    """Regression: the error quoted text of the policy without escaping it."""
    path = tmp_path / "judge.safetensors"
    save_policy(path, GAME, _judge(), "relu")
    tensors, metadata = read_tensors(path, FORMAT)
    said = "\x1b[2J\rgreedy"
    forged = {**metadata, key: [said] if key == "advisers" else said}
    write_tensors(path, tensors, forged)
    with pytest.raises(PolicyError) as caught:
        load_policy(path, GAME)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("activation", [None, "tanh", 7])
def test_a_judge_without_the_activation_of_judges_is_refused(
    tmp_path: Path, activation: Any
) -> None:
    """Regression: the file raised a KeyError, or was accepted with another activation."""
    path = tmp_path / "judge.safetensors"
    save_policy(path, GAME, _judge(), "relu")
    tensors, metadata = read_tensors(path, FORMAT)
    del metadata["activation"]
    write_tensors(path, tensors, metadata | ({"activation": activation} if activation else {}))
    with pytest.raises(PolicyError, match="a judge uses relu and no advisers"):
        load_policy(path, GAME)


def _write_raw(path: Path, header: dict[str, Any], data: bytes = b"") -> None:
    """Write a file in the safetensors format with any header."""
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


@posix
@pytest.mark.parametrize("when", ["opened", "read"])
def test_a_file_that_shrinks_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Regression: policies and checkpoints were memory-mapped, so the process ended by SIGBUS."""
    path = tiny.policy(tmp_path, GAME)
    watched = "_header" if when == "read" else "read_bytes"
    real = getattr(safetensors_file, watched)

    def shrink_first(*arguments: Any) -> Any:
        os.truncate(path, 64 if when == "opened" else 0)
        return real(*arguments)

    monkeypatch.setattr(safetensors_file, watched, shrink_first)
    if when == "opened":
        with pytest.raises(PolicyError, match="is damaged"):
            load_policy(path, GAME)
    else:
        load_policy(path, GAME)  # the bytes were read before the file shrank


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


METADATA: dict[str, Any] = {
    "deep lists": nested(300),
    "deep and wide": [nested(100)] * 1000,
    "deep dictionaries": {"a": {"b": {"c": nested(14)}}},
    "200,000 names": ["greedy"] * 200_000,
    "many small lists": [[]] * 200_000,
    "a name of two megabytes": "x" * (1 << 21),
    "a key of a megabyte": {"x" * (1 << 20): 1},
}


@pytest.mark.parametrize("kind", METADATA)
def test_metadata_that_would_grow_when_printed_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Regression: 4 MB of metadata, nested 300 deep, gave 1.2 GB of `armarl info --json`."""
    path = tiny.policy(tmp_path, GAME)
    tensors, metadata = read_tensors(path, FORMAT)
    metadata["note"] = METADATA[kind]
    with pytest.raises(PolicyError, match="cannot be saved"):
        write_tensors(tmp_path / "other", tensors, metadata)
    assert not (tmp_path / "other").exists()
    with monkeypatch.context() as forging:
        forging.setattr(safetensors_file, "check_bounds", lambda metadata: None)
        write_tensors(path, tensors, metadata)
    with pytest.raises(PolicyError, match=r"its metadata are unusable: .* (deep|than)") as refusal:
        load_policy(path, GAME)
    assert len(str(refusal.value)) < 1000
    assert main(["info", str(path), "--json"]) == 1


def test_the_largest_accepted_metadata_stay_small(tmp_path: Path) -> None:
    """The largest metadata are printed as a few megabytes of JSON."""
    widest = [nested(json_text.DEEPEST - 4)] * (json_text.MOST_VALUES // json_text.DEEPEST)
    json_text.check_bounds({"note": widest})
    assert len(json.dumps({"note": widest}, indent=2)) < 16 << 20
