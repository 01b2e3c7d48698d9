"""Files from untrusted sources: one test for each problem that the fuzzers found."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import tiny
from armarl.cli.__main__ import main
from armarl.cli.shared_options import check_json
from armarl.common import json_text
from armarl.common.files import append_whole, read_bytes, read_text, shorten, write_bytes
from armarl.environments.aec import RawAECEnv
from armarl.games.make_game import make_game
from armarl.networks.judge import layout_of
from armarl.policies import safetensors_file, saved_policy
from armarl.policies.safetensors_file import FORMAT, PolicyError, read_tensors, write_tensors
from armarl.policies.saved_policy import load_policy, policy_game, read_policy_metadata, save_policy
from armarl_training.common.run_folder import RunError
from armarl_training.config.training_config import ConfigError, TrainingConfig, load_config
from armarl_training.learners.maskable import _generator
from armarl_training.run import checkpoint
from armarl_training.run.config_checks import resolve_precision
from armarl_training.run.progress import ProgressLog
from armarl_training.run.run import resume_run, start_run

GAME = make_game("armadora", board="mini")
posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")


def test_metadata_that_are_nested_deeply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: with a correct checksum, reading them raised a RecursionError."""
    monkeypatch.setattr(
        "armarl.policies.safetensors_file.json.dumps", lambda metadata, **_how: "[" * 100_000
    )
    path = tmp_path / "deep.safetensors"
    write_tensors(path, tiny.tensors(GAME), {})
    with pytest.raises(PolicyError, match="is damaged"):
        load_policy(path, GAME)


@pytest.mark.parametrize("more", ["NaN", "Infinity", "1e999", '0, "more": 1'])
def test_metadata_that_are_no_plain_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    """Regression: they were read, and then `armarl info --json` printed what is no JSON."""

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
def test_a_policy_s_advisers_are_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adviser: str
) -> None:
    """Regression: advisers were resolved like players, so files were opened, even the policy itself
    in an endless recursion.
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
    with pytest.raises(PolicyError, match="only the scripted player, greedy, can advise"):
        load_policy(path, GAME)
    assert opened == [path]


@pytest.mark.parametrize("option", ["chart", "dice"])
@pytest.mark.parametrize("source", ["/etc/passwd", "/dev/zero", "PIPE", "standard.txt", 7])
def test_a_policy_s_chart_is_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, source: Any
) -> None:
    """Regression: the error quoted /etc/passwd; /dev/zero and a pipe were read without end."""
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
        with pytest.raises(PolicyError, match=f"a file must hold the content of its {option}"):
            load(path)
    assert not opened


@pytest.mark.parametrize("kind", ["F8_E4M3", "F8_E5M2", "F4", "BF16", "?"])
def test_numbers_that_numpy_lacks(tmp_path: Path, kind: str) -> None:
    """Regression: for some of them safetensors raised an AttributeError."""
    path = tmp_path / "policy.safetensors"
    size = {"F4": 4, "BF16": 16}.get(kind, 8)
    _write_raw(path, {"a": {"dtype": kind, "shape": [8], "data_offsets": [0, size]}}, bytes(size))
    with pytest.raises(PolicyError, match="is damaged"):
        load_policy(path, GAME)


@pytest.mark.parametrize("number", [5_000, 100_000])
def test_more_tensors_than_a_network_has(tmp_path: Path, number: int) -> None:
    """Regression: a file of 30 MB kept a core busy for half a minute."""
    tensor = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    path = tmp_path / "policy.safetensors"
    _write_raw(path, {f"t{i}": tensor for i in range(number)})
    with pytest.raises(PolicyError, match=r"more than 4096 tensors|header is larger than 4 MiB"):
        load_policy(path, GAME)


def _judge(**changes: Any) -> dict[str, Any]:
    """Weights of a judge for the mini board; `changes` sets the numbers of units of layers."""
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
        (_judge(near=0, far=0), "has 0 outputs, not 1 to"),
        (_judge(prizes=0), "has 0 outputs, not 1 to"),
        (_judge(whole=70_000), "has 70000 outputs, not 1 to"),
        (_judge(far=5), "near and far have different numbers"),
        ({**_judge(), "near.1.weight": np.zeros((4, 4), np.float32)}, "part near has 2 layers"),
        ({**_judge(), "prizes.0.weight": np.zeros((3, 4, 1), np.float32)}, "does not fit"),
        ({**_judge(), "trunk.0.weight": np.zeros((4, 4), np.float32)}, "do not belong to any"),
        ({**_judge(), "direct.0.bias": np.full(1, np.inf, np.float32)}, "not finite"),
        ({"prizes.0.weight": np.zeros((2, 2), np.float32)}, "the part near has 0 layers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_judges_of_other_shapes(tmp_path: Path, tensors: Any, reason: str) -> None:
    """The kernel reads the layers without bounds checks."""
    path = tmp_path / "judge.safetensors"
    save_policy(path, GAME, _judge(), "relu")
    load_policy(path, GAME)
    write_tensors(path, tensors, read_tensors(path, FORMAT)[1])
    with pytest.raises(PolicyError, match=reason):
        load_policy(path, GAME)


@pytest.mark.parametrize("key", ["network", "survey", "activation", "advice", "advisers"])
def test_what_a_policy_says_moves_no_terminal(tmp_path: Path, key: str) -> None:
    """Regression: the error text had parts of it unescaped."""
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
def test_a_judge_without_its_activation(tmp_path: Path, activation: Any) -> None:
    """Regression: a KeyError, or silent acceptance though judges use another activation."""
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
def test_yaml_on_which_its_own_reader_falls(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert len(str(caught.value)) < 500


# --- folders and checkpoints of runs -------------------------------------------------------------


@pytest.fixture(params=["ppo", "td", "critic", "maskable_ppo"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a run with a checkpoint; no process trains there."""
    settings = tiny.settings(learner=request.param, options={"board": "mini"})
    with start_run(TrainingConfig(**settings), tmp_path / "run") as run:
        run.learner.iterate(0.5)
        run.save()
    return tmp_path / "run"


@posix
@pytest.mark.parametrize("name", ["lock", "pool", "progress.csv", "config.yaml", "x"])
def test_links_in_a_folder_are_not_followed(folder: Path, name: str, tmp_path: Path) -> None:
    """Regression: the target of a linked `lock` was emptied, and all policies in a linked `pool`
    were removed.
    """
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
    """Regression: the error kept the lock, so a second try found the folder in use."""
    whole = (folder / "config.yaml").read_bytes()
    (folder / "config.yaml").write_bytes(b"seed: x")
    with pytest.raises(ConfigError) as caught:
        resume_run(folder)
    (folder / "config.yaml").write_bytes(whole)
    resume_run(folder)
    assert caught.value


def test_a_configuration_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: half a file was left, so the run could be neither resumed nor restarted."""

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    config = TrainingConfig(**tiny.settings(options={"board": "mini"}))
    monkeypatch.setattr("armarl.common.files.os.fsync", full)
    with pytest.raises(OSError, match="no space left"):
        start_run(config, tmp_path / "run")
    monkeypatch.undo()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["lock"]
    start_run(config, tmp_path / "run")  # the folder is not locked
    assert load_config(tmp_path / "run" / "config.yaml") == resolve_precision(config)


def test_a_table_that_is_damaged(folder: Path) -> None:
    """Regression: rows without decisions or with huge numbers ended the run at its next plot."""
    rows = (b"0,nan", b"inf,1", b"1e400,1", b"-5,1", b"0.5,1", b",1", b"0,1e308")
    tables = [b"decisions,rating\n" + row + b"\n" for row in rows]
    for content in (b"decisions\nmany\n", b"\xff", b"a,b\n1,2,3\n", b"minutes\n1\n", *tables):
        (folder / "progress.csv").write_bytes(content)
        with pytest.raises(RunError, match="remove it to start a new table"):
            resume_run(folder)


def test_an_earlier_self_that_is_missing(folder: Path) -> None:
    def spoil(tensors: Any, values: Any) -> None:
        values["pool"]["snapshots"] = [512]

    forge(folder, spoil)
    with pytest.raises(PolicyError, match=r"000000000512\.safetensors is missing; the run trains"):
        resume_run(folder)


def test_a_run_that_has_diverged_is_not_saved(folder: Path) -> None:
    """Regression: its checkpoint replaced the last good one and was refused from then on."""

    def spoil(tensors: Any, values: Any) -> None:
        for name, tensor in tensors.items():
            if name.startswith("networks/") and name.endswith("weight"):
                tensor[...] = 3e38

    before = (folder / checkpoint.FILE).read_bytes()
    resume_run(folder, ["total_decisions=1000000"]).close()
    forge(folder, spoil)
    forged = (folder / checkpoint.FILE).read_bytes()
    assert forged != before
    with np.errstate(all="ignore"), pytest.raises(RunError, match="the training has diverged"):
        resume_run(folder).train()
    assert (folder / checkpoint.FILE).read_bytes() == forged
    (folder / checkpoint.FILE).write_bytes(before)
    run = resume_run(folder)
    run.learner.iterate(0.5)
    run.save()


def test_a_pool_s_folder_keeps_what_is_none_of_the_run_s(folder: Path) -> None:
    """Regression: all policies in it that the run did not know were removed."""
    (folder / "pool").mkdir(exist_ok=True)
    for name in ("mine.safetensors", "000000000001.safetensors"):
        (folder / "pool" / name).write_bytes(b"x")
    resume_run(folder).save()
    assert [path.name for path in (folder / "pool").iterdir()] == ["mine.safetensors"]


def test_runs_that_do_not_fit_into_memory(tmp_path: Path) -> None:
    """The first array that is too large raises the error, before the machine is out of memory."""
    settings = tiny.settings(environments=512, ppo={"rollout_length": 1 << 24})
    with pytest.raises(ConfigError, match="more memory than there is"):
        start_run(TrainingConfig(**settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def forge(folder: Path, spoil: Any) -> None:
    """Change the contents of a checkpoint, with a correct checksum."""
    path = folder / checkpoint.FILE
    tensors, values = read_tensors(path, checkpoint.FORMAT)
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    spoil(tensors, values)
    write_tensors(path, tensors, values)


def _first(tensors: Any, section: str, kind: str = "") -> str:
    return next(name for name in tensors if name.startswith(section) and name.endswith(kind))


def _moments_too_short(tensors: Any, values: Any) -> None:
    """torch's fused Adam reads them without bounds checks."""
    names = [name for name in tensors if name.startswith("optimiser/") and name.endswith("exp_avg")]
    name = max(names, key=lambda name: tensors[name].size)
    tensors[name] = tensors[name].reshape(-1)[:1]


def _moments_of_another_type(tensors: Any, values: Any) -> None:
    name = _first(tensors, "optimiser/", "exp_avg_sq")
    tensors[name] = tensors[name].astype(np.float64)


def _a_moment_missing(tensors: Any, values: Any) -> None:
    del tensors[_first(tensors, "optimiser/", "step")]


def _steps_below_none(tensors: Any, values: Any) -> None:
    """The next step makes the count 0, and torch divides by it."""
    tensors[_first(tensors, "optimiser/", "step")][...] = -1


def _squares_below_none(tensors: Any, values: Any) -> None:
    """Their square roots are NaN, and one step later so is every weight."""
    tensors[_first(tensors, "optimiser/", "exp_avg_sq")][...] = -1


def _weights_that_are_none(tensors: Any, values: Any) -> None:
    tensors[_first(tensors, "networks/")][:] = np.nan


def _games_of(values: Any) -> Any:
    """The JSON values of a learner's first shard of games."""
    games = values["learner"].get("games")
    return games[0] if games else values["learner"]


def _no_learner(tensors: Any, values: Any) -> None:
    values["learner"] = []


def _other_returns(tensors: Any, values: Any) -> None:
    where = _games_of(values)
    where["recent"] = {"x": ["a", None]}


def _a_name_that_clears_the_terminal(tensors: Any, values: Any) -> None:
    """The progress bar shows the names of opponents."""
    where = _games_of(values)
    where["recent"] = {"\x1b[2J": [0.5]}


def _decisions(tensors: Any, values: Any) -> None:
    values["learner"]["decisions"] = -1


def _seconds(tensors: Any, values: Any) -> None:
    values["run"]["seconds"] = "x"


@pytest.mark.parametrize(
    "spoil",
    [
        *(_moments_too_short, _moments_of_another_type, _a_moment_missing, _weights_that_are_none),
        *(_steps_below_none, _squares_below_none),
        *(_no_learner, _other_returns, _decisions, _seconds, _a_name_that_clears_the_terminal),
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_a_checkpoint_that_was_forged(folder: Path, spoil: Any) -> None:
    forge(folder, spoil)
    with pytest.raises(PolicyError, match="checkpoint"):
        resume_run(folder)


def test_a_place_beyond_the_end_of_a_generator(folder: Path) -> None:
    """NumPy accepts such a position and reads beyond the generator's state."""

    def spoil(tensors: Any, values: Any) -> None:
        if "numpy_chance" in values["learner"]:
            values["learner"]["numpy_chance"][1] = 10**6
        else:
            games = _games_of(values)
            where = games if "chance" in games else values["learner"]  # a critic's games have none
            where["chance"] = {"bit_generator": "MT19937"}

    forge(folder, spoil)
    with pytest.raises(PolicyError, match="checkpoint"):
        resume_run(folder)


def test_two_who_write_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: threads shared the name of the temporary file, so a reader found half a file and
    a writer found none.
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


@pytest.mark.parametrize(
    ("left", "place"), [(624, 624), (624, 2), (2, 624), (0, 0), (-1, 3), (1, 2**63), (1, 625)]
)
def test_a_place_beyond_the_words_of_torch_s_generator(
    tmp_path: Path, left: int, place: int
) -> None:
    """torch checks the two numbers separately and reads beyond the generator's state."""
    settings = tiny.settings(learner="maskable_ppo", options={"board": "mini"})
    with start_run(TrainingConfig(**settings), tmp_path / "run") as run:
        run.save()

    def spoil(tensors: Any, values: Any) -> None:
        tensors["chance/torch"][8:12] = np.array([left], np.int32).view(np.uint8)
        tensors["chance/torch"][16:24] = np.array([place], np.uint64).view(np.uint8)

    forge(tmp_path / "run", spoil)
    with pytest.raises(PolicyError, match=r"checkpoint.*the position in torch's generator is out"):
        resume_run(tmp_path / "run")


@pytest.mark.parametrize("spoil", [lambda old: old[:-8], lambda old: old.view(np.int8)])
def test_what_is_no_state_of_torch_s_generator(tmp_path: Path, spoil: Any) -> None:
    settings = tiny.settings(learner="maskable_ppo", options={"board": "mini"})
    with start_run(TrainingConfig(**settings), tmp_path / "run") as run:
        run.save()
    forge(
        tmp_path / "run",
        lambda tensors, values: tensors.update(
            {"chance/torch": spoil(tensors["chance/torch"]).copy()}
        ),
    )
    with pytest.raises(PolicyError, match=r"checkpoint.*the random state of torch"):
        resume_run(tmp_path / "run")


@pytest.mark.parametrize("draws", [0, 1, 623, 624, 625, 640])
def test_torch_s_generator_is_somewhere_in_its_words(draws: int) -> None:
    """Every state that torch itself saves is accepted unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        for _ in range(draws):
            torch.rand(1)
        state = torch.get_rng_state().numpy()
        assert np.array_equal(_generator(state), state)


@posix
@pytest.mark.parametrize("when", ["opened", "read"])
def test_a_file_that_shrinks_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Regression: policies and checkpoints were mapped, so the process died of SIGBUS."""
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
        load_policy(path, GAME)  # the bytes were read before


@posix
def test_a_pipe_that_takes_a_file_s_place_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: between the check and the opening, a pipe could take the place of the file."""
    path = tmp_path / "policy.safetensors"
    os.mkfifo(path)
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    for read in (read_bytes, read_text):
        with pytest.raises(ValueError, match="it is not a file"):
            read(path, 100)


def test_files_that_grow_are_read_up_to_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(100))
    assert read_bytes(path, 100) == bytes(100)
    with pytest.raises(ValueError, match="larger than 99 bytes"):
        read_bytes(path, 99)
    if os.name == "posix":
        with pytest.raises(ValueError, match="it is not a file"):
            read_bytes(Path("/dev/zero"), 100)


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
def test_metadata_that_would_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Regression: 4 MB of metadata, nested 300 deep, became 1.2 GB of `armarl info --json`."""
    path = tiny.policy(tmp_path, GAME)
    tensors, metadata = read_tensors(path, FORMAT)
    metadata["note"] = METADATA[kind]
    with pytest.raises(PolicyError, match="cannot hold these metadata"):
        write_tensors(tmp_path / "other", tensors, metadata)
    assert not (tmp_path / "other").exists()
    with monkeypatch.context() as forging:
        forging.setattr(safetensors_file, "check_bounds", lambda metadata: None)
        write_tensors(path, tensors, metadata)
    with pytest.raises(PolicyError, match=r"its metadata are unusable: .* (deep|than)") as refusal:
        load_policy(path, GAME)
    assert len(str(refusal.value)) < 1000
    assert main(["info", str(path), "--json"]) == 1


def test_metadata_at_the_bounds_stay_small(tmp_path: Path) -> None:
    """The largest accepted metadata are printed as a few megabytes of JSON."""
    widest = [nested(json_text.DEEPEST - 4)] * (json_text.MOST_VALUES // json_text.DEEPEST)
    json_text.check_bounds({"note": widest})
    assert len(json.dumps({"note": widest}, indent=2)) < 16 << 20


@posix
def test_a_pipe_that_nobody_reads_gets_no_records(tmp_path: Path) -> None:
    """Regression: it was waited for."""
    path = tmp_path / "games.txt"
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"games\.txt"):
        append_whole(path, b"a record")


@posix
def test_a_pipe_that_is_read_gets_all_records(tmp_path: Path) -> None:
    path, content = tmp_path / "games.txt", b"a record\n" * 100_000
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as reader:
        found = reader.submit(path.read_bytes)
        deadline = time.monotonic() + 60
        while True:
            try:
                append_whole(path, content)
                break
            except OSError:  # the reader has not opened it yet
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert found.result(60) == content


@posix
def test_a_link_in_the_place_of_a_tournament_s_games_is_not_written_through(tmp_path: Path) -> None:
    """Regression: it was checked when the folder was locked, and followed later."""
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
def test_an_earlier_result_is_read_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Regression: `--json` read all of a file that it might replace, whatever its size."""
    path = tmp_path / "result.json"
    path.write_text("[" * 100_000)
    if kind == "large":
        path.write_text("[1]" + " " * 100)
        check_json(path)
        monkeypatch.setattr("armarl.cli.shared_options._MOST_RESULT", 100)
    with pytest.raises(ValueError, match="does not hold JSON"):
        check_json(path)


@pytest.mark.parametrize("number", ["1e5000", "1:1", "1_e5", "0o7", "-0b", "''", "x", "1.5"])
def test_an_explicit_tag_allows_no_other_numbers(tmp_path: Path, number: str) -> None:
    """Regression: with one, a line of twenty letters became a number of gigabytes."""
    path = tmp_path / "run.yaml"
    path.write_text(f"seed: !!int {number}", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not a whole number"):
        load_config(path)
    path.write_text("seed: !!int 3e1\ntotal_decisions: 9", encoding="utf-8")
    assert load_config(path).seed == 30


def test_a_wide_table_with_short_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: each row took as long as there are columns, so 3 MB took hours."""
    names = ["decisions", *(f"c{i}" for i in range(1000))]
    (tmp_path / "progress.csv").write_text(",".join(names) + "\n1\n", "utf-8")
    with pytest.raises(RunError, match="remove it to start a new table"):
        ProgressLog(tmp_path).take_up(10)
    (tmp_path / "progress.csv").write_text("\n", "utf-8")
    ProgressLog(tmp_path).take_up(10)


POOL = {"share": 0.5, "earlier": 1.0, "snapshot_every": 256, "pool_size": 2}


@pytest.mark.parametrize("kind", ["a file", "folders", "nothing"])
def test_a_pool_that_cannot_be_written_ends_no_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    """Regression: the training ended without a checkpoint, or with one that lacked its pool."""
    settings = tiny.settings(options={"board": "mini"}, opponents=POOL, total_decisions=2048)
    pool, reports = tmp_path / "run" / "pool", []

    def spoil(report: Any) -> None:
        reports.append(report)
        if kind == "folders":
            for taken in range(256, 2304, 256):
                if not (pool / f"{taken:012d}.safetensors").exists():
                    (pool / f"{taken:012d}.safetensors").mkdir(parents=True)
        elif len(reports) == 2 if kind == "a file" else pool.is_dir():
            shutil.rmtree(pool, ignore_errors=True)
            if kind == "a file":
                pool.write_text("x")

    assert start_run(TrainingConfig(**settings), tmp_path / "run").train(spoil)
    told = [line for line in caplog.messages if line.endswith("the training continues")]
    assert len(told) == (kind == "a file")
    if kind == "a file":
        pool.unlink()
    with resume_run(tmp_path / "run") as run:
        assert run.decisions >= 2048
        assert bool(run.pool.snapshots) == (kind != "a file")
