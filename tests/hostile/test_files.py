"""Files from strangers: what the fuzzers found, one by one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from armarl import policies
from armarl.aec import RawAECEnv
from armarl.game import make_game
from armarl.policies import FORMAT, PolicyError, load_policy, read_tensors, write_tensors
from armarl_training import checkpoint
from armarl_training.config import ConfigError, TrainingConfig, load_config
from armarl_training.folders import RunError
from armarl_training.run import resume_run, start_run

GAME = make_game("armadora", board="mini")
posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")


def test_metadata_that_are_nested_deeply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a right checksum: reading them was a RecursionError."""
    monkeypatch.setattr("armarl.policies.json.dumps", lambda metadata: "[" * 100_000)
    path = tmp_path / "deep.safetensors"
    write_tensors(path, tiny.tensors(GAME), {})
    with pytest.raises(PolicyError, match="is damaged"):
        load_policy(path, GAME)


@pytest.mark.parametrize(
    "adviser",
    ["/etc/passwd", "/dev/zero", "x" * 300, "SELF", "greedy+search:9", "greedy:noise=1"],
    ids=["file", "device", "long", "itself", "search", "noise"],
)
def test_a_policy_s_advisers_are_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adviser: str
) -> None:
    """They were looked for as players are: files were opened, the policy itself without an end."""
    path = tiny.policy(tmp_path, GAME)
    tensors, metadata = read_tensors(path, FORMAT)
    advisers = [str(path) if adviser == "SELF" else adviser]
    write_tensors(path, tensors, {**metadata, "advisers": advisers, "advice": "0" * 16})
    opened = []
    read = policies.read_tensors
    monkeypatch.setattr(
        policies, "read_tensors", lambda path, *formats: opened.append(path) or read(path, *formats)
    )
    with pytest.raises(PolicyError, match="only the scripted player can advise"):
        load_policy(path, GAME)
    assert opened == [path]


@pytest.mark.parametrize("kind", ["F8_E4M3", "F8_E5M2", "F4", "BF16", "?"])
def test_numbers_that_numpy_lacks(tmp_path: Path, kind: str) -> None:
    """For some of them safetensors raised an AttributeError."""
    path = tmp_path / "policy.safetensors"
    size = {"F4": 4, "BF16": 16}.get(kind, 8)
    _write_raw(path, {"a": {"dtype": kind, "shape": [8], "data_offsets": [0, size]}}, bytes(size))
    with pytest.raises(PolicyError, match="is damaged"):
        load_policy(path, GAME)


@pytest.mark.parametrize("number", [5_000, 100_000])
def test_more_tensors_than_a_network_has(tmp_path: Path, number: int) -> None:
    """A file of 30 MB kept a core busy for half a minute."""
    tensor = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    path = tmp_path / "policy.safetensors"
    _write_raw(path, {f"t{i}": tensor for i in range(number)})
    with pytest.raises(PolicyError, match=r"more than 4096 tensors|header is larger than 4 MiB"):
        load_policy(path, GAME)


def _write_raw(path: Path, header: dict[str, Any], data: bytes = b"") -> None:
    """A safetensors file as its format has it, whatever it says."""
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


@pytest.mark.parametrize(
    "data",
    [None, 7, "text", memoryview(b"x"), np.zeros(3)],
    ids=["none", "number", "text", "view", "array"],
)
def test_saved_games_are_bytes(data: Any) -> None:
    env = RawAECEnv(GAME)
    env.reset(seed=0)
    with pytest.raises(TypeError, match="a saved game is bytes"):
        env.load_state(data)


@pytest.mark.parametrize(
    "text",
    ["seed: !!float ''", "seed: !!timestamp x", f"seed: !!int '0x{'f' * 5000}'", "? {a: 1}\n: 1\n"],
    ids=["float", "timestamp", "hexadecimal", "key"],
)
def test_yaml_on_which_its_own_reader_falls(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert len(str(caught.value)) < 500


# --- folders and checkpoints of runs -------------------------------------------------------------


@pytest.fixture(params=["ppo", "td", "maskable_ppo"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a run with a checkpoint, in which nobody trains."""
    settings = tiny.settings(learner=request.param, options={"board": "mini"})
    run = start_run(TrainingConfig(**settings), tmp_path / "run")
    run.learner.iterate(0.5)
    run.save()
    assert run._lock is not None
    run._lock.close()
    return tmp_path / "run"


@posix
@pytest.mark.parametrize("name", ["lock", "pool", "progress.csv", "config.yaml", "x"])
def test_links_in_a_folder_are_not_followed(folder: Path, name: str, tmp_path: Path) -> None:
    """A `lock` that was a link had its target emptied; beyond `pool` all policies were removed."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    kept = [elsewhere / ".bashrc.old.1", elsewhere / "mine.safetensors", elsewhere / "file"]
    for path in kept:
        path.write_text("mine", encoding="utf-8")
    target = folder / name
    if target.is_file():
        kept[2].write_bytes(target.read_bytes())
        target.unlink()
        target.symlink_to(kept[2])
    else:
        target.symlink_to(elsewhere)
    before = [path.read_bytes() for path in kept]
    with pytest.raises(RunError, match="is a link"):
        resume_run(folder)
    assert [path.read_bytes() for path in kept] == before


@posix
@pytest.mark.parametrize("name", ["lock", "progress.csv", "config.yaml", "checkpoint.safetensors"])
@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_is_not_waited_for(folder: Path, name: str, kind: str) -> None:
    (folder / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).mkdir()
    with pytest.raises((RunError, ConfigError, PolicyError), match=name.replace(".", r"\.")):
        resume_run(folder)


def test_a_refused_folder_is_not_held(folder: Path) -> None:
    """The error kept the lock: a second try said that this process trains there."""
    whole = (folder / "config.yaml").read_bytes()
    (folder / "config.yaml").write_bytes(b"seed: x")
    with pytest.raises(ConfigError) as caught:
        resume_run(folder)
    (folder / "config.yaml").write_bytes(whole)
    resume_run(folder)
    assert caught.value


def test_a_table_that_is_damaged(folder: Path) -> None:
    for content in (b"decisions\nmany\n", b"\xff", b"a,b\n1,2,3\n"):
        (folder / "progress.csv").write_bytes(content)
        with pytest.raises(RunError, match="remove it and the table begins anew"):
            resume_run(folder)


def test_an_earlier_self_that_is_missing(folder: Path) -> None:
    def spoil(tensors: Any, values: Any) -> None:
        values["pool"]["snapshots"] = [512]

    forge(folder, spoil)
    with pytest.raises(PolicyError, match=r"no file .*000000000512\.safetensors"):
        resume_run(folder)


def forge(folder: Path, spoil: Any) -> None:
    """Change what a checkpoint holds, under a checksum that is right."""
    path = folder / checkpoint.FILE
    tensors, values = read_tensors(path, checkpoint.FORMAT)
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    spoil(tensors, values)
    write_tensors(path, tensors, values)


def _first(tensors: Any, section: str, kind: str = "") -> str:
    return next(name for name in tensors if name.startswith(section) and name.endswith(kind))


def _moments_too_short(tensors: Any, values: Any) -> None:
    """torch's fused Adam goes through them without bounds checks."""
    name = _first(tensors, "optimiser/", "exp_avg")
    tensors[name] = tensors[name].reshape(-1)[:1]


def _moments_of_another_type(tensors: Any, values: Any) -> None:
    name = _first(tensors, "optimiser/", "exp_avg_sq")
    tensors[name] = tensors[name].astype(np.float64)


def _a_moment_missing(tensors: Any, values: Any) -> None:
    del tensors[_first(tensors, "optimiser/", "step")]


def _steps_below_none(tensors: Any, values: Any) -> None:
    """torch divided by the 0 to which the next step brings them."""
    tensors[_first(tensors, "optimiser/", "step")][...] = -1


def _squares_below_none(tensors: Any, values: Any) -> None:
    """Their roots are NaN, and so is every weight one step later."""
    tensors[_first(tensors, "optimiser/", "exp_avg_sq")][...] = -1


def _weights_that_are_none(tensors: Any, values: Any) -> None:
    tensors[_first(tensors, "networks/")][:] = np.nan


def _no_learner(tensors: Any, values: Any) -> None:
    values["learner"] = []


def _other_returns(tensors: Any, values: Any) -> None:
    where = values["learner"] if "recent" in values["learner"] else values["learner"]["games"]
    where["recent"] = {"x": ["a", None]}


def _decisions(tensors: Any, values: Any) -> None:
    values["learner"]["decisions"] = -1


def _seconds(tensors: Any, values: Any) -> None:
    values["run"]["seconds"] = "x"


@pytest.mark.parametrize(
    "spoil",
    [
        *(_moments_too_short, _moments_of_another_type, _a_moment_missing, _weights_that_are_none),
        *(_steps_below_none, _squares_below_none),
        *(_no_learner, _other_returns, _decisions, _seconds),
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_a_checkpoint_that_was_forged(folder: Path, spoil: Any) -> None:
    forge(folder, spoil)
    with pytest.raises(PolicyError, match="checkpoint"):
        resume_run(folder)


def test_a_place_beyond_the_end_of_a_generator(folder: Path) -> None:
    """NumPy takes it, and reads what lies behind its words."""

    def spoil(tensors: Any, values: Any) -> None:
        if "numpy_chance" in values["learner"]:
            values["learner"]["numpy_chance"][1] = 10**6
        else:
            where = values["learner"].get("games", values["learner"])
            where["chance"] = {"bit_generator": "MT19937"}

    forge(folder, spoil)
    with pytest.raises(PolicyError, match="checkpoint"):
        resume_run(folder)
