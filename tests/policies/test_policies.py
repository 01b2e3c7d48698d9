"""Saved policies: contents, errors, and safe loading."""

import builtins
import errno
import json
import os
import pickle
import struct
import subprocess
import sys
import warnings
import zipfile
from types import MappingProxyType

import numpy as np
import pytest
from safetensors.numpy import save_file

import tiny
from armarl import play_match
from armarl.armadora_v0 import env as make_env
from armarl.core.verbs import PLAYING
from armarl.games.make_game import make_game
from armarl.players.registry import shipped_policies
from armarl.players.simple_players import GreedyPlayer
from armarl.policies.network_players import NetworkPlayer
from armarl.policies.safetensors_file import FORMAT, PolicyError, write_tensors
from armarl.policies.saved_policy import load_policy, policy_game, read_policy_metadata, save_policy
from armarl.roster.make_player import make_player

GAME = make_game("armadora")
TENSORS = MappingProxyType(tiny.tensors(GAME))


@pytest.fixture
def path(tmp_path):
    return tiny.policy(tmp_path, GAME)


def header_size(data):
    return 8 + struct.unpack("<Q", data[:8])[0]


def changed(**changes):
    """Return a policy's tensors with some replaced, or removed if the new value is None."""
    tensors = {**TENSORS, **{name.replace("_", "."): value for name, value in changes.items()}}
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def forged(path, metadata=None, tensors=TENSORS):
    """Write a file with a correct checksum but contents that `save_policy` would not write."""
    whole = {"format": FORMAT, "variant": GAME.variant, "activation": "tanh", **(metadata or {})}
    write_tensors(path, tensors, whole)
    return path


# --- contents ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["armadora-3p", "armada-3p"])
def test_a_seat_that_is_not_to_move_has_no_probabilities(name):
    """The test uses all kinds: a judge and a critic as parameters, and a network of logits."""
    shipped = load_policy(name)
    states, seats = tiny.positions(shipped.game, 6)
    others = (seats + 1) % shipped.game.players
    for policy in (shipped, tiny.network(shipped.game)):
        assert np.allclose(policy.probabilities(states, seats).sum(axis=1), 1)
        assert not policy.probabilities(states, others).any()


@pytest.mark.parametrize("name", ["armadora-3p", "armada-3p", "armada-3p-ppo"])
def test_a_finished_game_does_not_change_the_others(name):
    """Regression: in a finished game, critics let the scripted player act.

    They overwrote results of other games.
    """
    policy = load_policy(name)
    game = policy.game
    states, seats = tiny.positions(game, 6)
    alone = policy.probabilities(states, seats), policy.choose(states, seats, np.zeros(6))
    over = finished(game)
    mixed = np.concatenate([over, states[:3], over, states[3:], over])
    asked = np.concatenate([[0], seats[:3], [1], seats[3:], [2]])
    draws, inside = np.zeros(9), [1, 2, 3, 5, 6, 7]
    found = policy.probabilities(mixed, asked)
    assert np.allclose(found[inside], alone[0], atol=1e-6)
    assert not found[[0, 4, 8]].any()
    assert np.array_equal(policy.choose(mixed, asked, draws)[inside], alone[1])
    assert np.allclose(policy.think(mixed, asked, draws).probabilities, found, atol=1e-6)
    assert not policy.probabilities(np.repeat(over, 2), np.arange(2)).any()


def finished(game):
    """Return a game that greedy players have played until its end."""
    states, greedy = game.new_states(np.array([5])), GreedyPlayer(game)
    while game.statuses(states)[0][0] == PLAYING:
        seats = game.statuses(states)[1]
        game.play(states, np.zeros(1, np.int64), greedy.choose(states, seats, np.zeros(1)))
    return states


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize("variant", [{}, {"players": 4, "advanced": True}, {"players": 3}], ids=str)
def test_a_loaded_policy_plays_as_the_saved_one(tmp_path, variant, sample):
    game = make_game("armadora", **variant)
    player = tiny.network(game, sample=sample)
    loaded = load_policy(tiny.policy(tmp_path, game), sample=sample)
    states, seats = tiny.positions(game)
    draws = np.random.default_rng(0).random(states.size)
    actions = player.choose(states, seats, draws)
    assert loaded.name == tmp_path.name
    assert np.array_equal(loaded.choose(states, seats, draws), actions)
    assert np.array_equal(loaded.values(states, seats), player.values(states, seats))
    assert game.legal_masks(states)[np.arange(states.size), actions].all()


def test_the_metadata_can_be_read(tmp_path):
    path = tmp_path / "new folder" / "policy.safetensors"
    save_policy(path, GAME, TENSORS, "relu", training={"decisions": 5}, strength=[{"games": 2}])
    metadata = read_policy_metadata(path)
    assert metadata == {
        "format": FORMAT,
        "variant": GAME.variant,
        "activation": "relu",
        "network": {"trunk": [], "policy": [16, len(GAME.actions)], "value": [16, 1]},
        "training": {"decisions": 5},
        "strength": [{"games": 2}],
    }
    assert load_policy(path).metadata == metadata
    assert policy_game(path).variant == GAME.variant
    # Any tool for safetensors can read it, because it is JSON in the file's header.
    data = path.read_bytes()
    assert json.loads(json.loads(data[8 : header_size(data)])["__metadata__"]["armarl"]) == metadata


def test_saving_again_replaces_the_file_and_leaves_no_other(path):
    save_policy(path, GAME, tiny.tensors(GAME, seed=1), "tanh")
    assert np.array_equal(
        load_policy(path).tensors["policy.0.bias"], tiny.tensors(GAME, seed=1)["policy.0.bias"]
    )
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_policy_plays_by_argmax_or_by_sampling():
    """Argmax takes the most likely legal action. Sampling draws a legal action by probability."""
    states, seats = tiny.positions(GAME, 1)
    logits = {action: k for k, action in enumerate(np.flatnonzero(GAME.legal_masks(states)[0])[:3])}
    bias = np.full(len(GAME.actions), -1e9, np.float32)
    bias[list(logits)] = list(logits.values())
    illegal = np.flatnonzero(GAME.legal_masks(states)[0] == 0)[0]
    bias[illegal] = 50
    weight = np.zeros((len(GAME.actions), GAME.observation.size), np.float32)
    tensors = {"policy.0.weight": weight, "policy.0.bias": bias}
    likeliest = NetworkPlayer(GAME, tensors, "relu").choose(states, seats, np.zeros(1))
    assert likeliest.tolist() == [max(logits)]

    shares = np.exp(list(logits.values())) / np.exp(list(logits.values())).sum()
    draws = (np.arange(1000) + 0.5) / 1000
    many = np.repeat(states, 1000)
    sampled = NetworkPlayer(GAME, tensors, "relu", sample=True)
    actions = sampled.choose(many, np.repeat(seats, 1000), draws)
    found = [np.mean(actions == action) for action in logits]
    assert found == pytest.approx(shares, abs=0.002)
    extremes = np.array([0.0, np.nextafter(1, 0)])
    first, last = sampled.choose(many[:2], np.repeat(seats, 2), extremes)
    assert [first, last] == [min(logits), max(logits)]


@pytest.mark.parametrize(
    ("temperature", "error"),
    [
        *((number, ValueError) for number in (0, -1, np.nan, np.inf, 2e6)),
        *((what, TypeError) for what in ("1", [], True)),
    ],
)
@pytest.mark.parametrize("sample", [None, False, True])
def test_invalid_temperatures_are_refused(path, temperature, error, sample):
    with pytest.raises(error, match=r"temperature must be (a number|above 0 and)"):
        load_policy(path, sample=sample, temperature=temperature)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, (False, 1)),
        ({"sample": False}, (False, 1)),
        ({"sample": True}, (True, 1)),
        ({"temperature": 1000.0}, (True, 1000)),
        ({"sample": True, "temperature": 2}, (True, 2)),
        ({"sample": np.True_, "temperature": np.float32(2)}, (True, 2)),
    ],
    ids=str,
)
def test_a_temperature_means_the_same_by_name_and_in_python(path, options, found):
    arguments = ",".join(f"{name}={value}".lower() for name, value in options.items())
    named = make_player(f"{path}:{arguments}" if options else path, GAME)
    for player in (load_policy(path, **options), named):
        assert (player.sample, player.temperature) == found


def test_a_temperature_without_sampling_is_refused(path):
    with pytest.raises(ValueError, match=r"temperature=1000 needs sampling"):
        load_policy(path, sample=False, temperature=1000.0)
    with pytest.raises(ValueError, match=r"temperature=1000 needs sampling"):
        make_player(f"{path}:sample=false,temperature=1000", GAME)


@pytest.mark.parametrize("sample", ["no", 0, 1.0, [True]])
def test_sample_must_be_true_or_false(path, sample):
    with pytest.raises(TypeError, match="sample must be True or False, not"):
        load_policy(path, sample=sample)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("learner", ["ppo", "maskable_ppo"])
def test_a_policy_computes_as_the_network_of_its_training(tmp_path, learner, activation):
    import torch

    from armarl_training.config.training_config import TrainingConfig
    from armarl_training.run.run import start_run

    net = {"widths": [16, 8], "activation": activation}
    settings = tiny.settings(learner=learner, options={"players": 3, "advanced": True}, network=net)
    run = start_run(TrainingConfig(**settings), tmp_path)
    network = run.learner.average if learner == "ppo" else run.learner.model.policy
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    player = load_policy(run.export(), run.game)

    states, seats = tiny.positions(run.game, 200)
    observations, masks = run.game.views(states, seats)
    with torch.no_grad():
        given = torch.from_numpy(observations)
        if learner == "ppo":
            outputs = network(given, torch.empty((len(given), 0), dtype=torch.int64))
            logits, values = outputs[:, :-1].numpy().copy(), outputs[:, -1]
        else:
            logits = network.get_distribution(given).distribution.logits.numpy().copy()
            values = network.predict_values(given)[:, 0]
    logits[masks == 0] = -np.inf
    expected = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    np.testing.assert_allclose(player.probabilities(states, seats), expected, atol=1e-5)
    np.testing.assert_allclose(player.values(states, seats), values.numpy(), atol=1e-5)
    chosen = player.choose(states, seats, np.zeros(states.size))
    rows = np.arange(states.size)
    np.testing.assert_allclose(expected[rows, chosen], expected.max(axis=1), atol=1e-5)


# --- refusals: damage ----------------------------------------------------------------------------


def test_a_missing_file_is_reported(tmp_path):
    for read in (load_policy, read_policy_metadata, policy_game):
        with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing"):
            read(tmp_path / "nothing.safetensors")


def test_a_truncated_file_is_refused(path):
    data = path.read_bytes()
    body = header_size(data)
    for length in (0, 1, 7, 8, 9, body // 2, body - 1, body, body + 1, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(PolicyError, match="damaged"):
            load_policy(path, GAME)


def test_a_file_with_added_bytes_is_refused(path):
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(PolicyError, match="damaged"):
        load_policy(path, GAME)


@pytest.mark.parametrize("part", ["header", "weights"])
def test_a_flipped_bit_is_noticed(path, part):
    """The bit is in the weights, in the metadata, or in the header's own fields."""
    data = path.read_bytes()
    body = header_size(data)
    places = range(body) if part == "header" else range(body, len(data), 997)
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(PolicyError):
            load_policy(path, GAME)
        with pytest.raises(PolicyError):
            read_policy_metadata(path)


def test_a_changed_strength_is_noticed(path):
    data = path.read_bytes()
    path.write_bytes(data.replace(b'strength\\": []', b'strength\\": {}'))
    assert path.read_bytes() != data
    with pytest.raises(PolicyError, match="do not match its checksum"):
        read_policy_metadata(path)


class Exploit:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return builtins.open, (str(self.path), "w")


def test_files_of_other_kinds_are_refused(tmp_path):
    """The files are an SB3 model (a zip archive with pickles), a pickle, text, and a folder."""
    victim = tmp_path / "victim"
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("data", pickle.dumps(Exploit(victim)))
    (tmp_path / "weights.pkl").write_bytes(pickle.dumps(Exploit(victim)))
    for name in ("notes.txt", "pl.py", "ok.onnx"):
        (tmp_path / name).write_text("these are no weights, and more than eight bytes")
    (tmp_path / "short").write_text("no weights"[:8])
    for name, said in (
        ("model.zip", r"model.zip is not an ArmaRL policy, .*save_policy\('model.safetensors'"),
        ("weights.pkl", "weights.pkl is not an ArmaRL policy"),
        ("notes.txt", "notes.txt is not a safetensors file; saved policies are"),
        ("short", "short is not a safetensors file; saved policies are"),
        ("pl.py", "pl.py is a Python file, .* for a class in it write pl:Class"),
        ("ok.onnx", "ok.onnx is an ONNX file, .* write onnx:.*ok.onnx"),
    ):
        with pytest.raises(PolicyError, match=said):
            load_policy(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        load_policy(tmp_path)
    assert not victim.exists()


def test_other_safetensors_files_are_refused(path):
    save_file(dict(TENSORS), path)
    with pytest.raises(PolicyError, match=r"not in the format .* of this version of ArmaRL"):
        load_policy(path)
    save_file(dict(TENSORS), path, {"armarl": json.dumps({"format": "armarl-checkpoint-1"})})
    with pytest.raises(PolicyError, match=r"policy\.safetensors is a training checkpoint"):
        load_policy(path)
    save_file(dict(TENSORS), path, {"armarl": json.dumps({"format": "armarl-policy-9"})})
    with pytest.raises(PolicyError, match=f"'{FORMAT}' of .*: its format is 'armarl-policy-9'"):
        load_policy(path)
    for text in ("[1]", "null", "no JSON"):
        save_file(dict(TENSORS), path, {"armarl": text})
        with pytest.raises(PolicyError):
            load_policy(path)
    # NumPy does not know this dtype.
    header = b'{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}'
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0\0")
    with pytest.raises(PolicyError, match="damaged or not a safetensors"):
        load_policy(path)


def test_the_error_for_a_checkpoint_names_the_policy_beside_it(tmp_path):
    """The error names the policy wherever a user can name a policy."""
    from armarl_training.config.training_config import TrainingConfig
    from armarl_training.run.run import start_run

    run = start_run(TrainingConfig(**tiny.settings(total_decisions=256)), tmp_path)
    run.train()
    path = run.folder / "checkpoint.safetensors"
    for read in (load_policy, read_policy_metadata, lambda path: make_player(path, GAME)):
        with pytest.raises(
            PolicyError, match=f"a training checkpoint, .* give the run's folder {run.folder}, or"
        ):
            read(path)
    assert load_policy(run.folder).game.variant == run.game.variant


# --- refusals: other games -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"players": 3}, "was made for 2 players, but this game has 3 players"),
        ({"advanced": True}, "for options advanced=false, but this game has options advanced=true"),
        ({"peek": False}, "for options peek=true, but this game has options peek=false"),
    ],
)
def test_a_policy_of_another_variant_is_refused(path, other, message):
    with pytest.raises(PolicyError, match=message):
        load_policy(path, make_game("armadora", **other))


@pytest.mark.parametrize(
    ("key", "value"),
    [("version", -1), ("actions", "0" * 16), ("observation", "0" * 16), ("game", "chess")],
)
def test_a_policy_of_another_version_or_observation_is_refused(path, key, value):
    forged(path, {"variant": {**GAME.variant, key: value}})
    with pytest.raises(PolicyError, match=f"made for {key} {value!r}, but this game has {key}"):
        load_policy(path, GAME)
    with pytest.raises(PolicyError):
        load_policy(path)


ARMADA = make_game("armada")


def of_version(path, version, **changed):
    """Write a policy of another version of Armada, with changed entries of its variant."""
    variant = {**ARMADA.variant, "version": version, **changed}
    widths = {"trunk": [], "policy": [16, len(ARMADA.actions)], "value": [16, 1]}
    return forged(path, {"variant": variant, "network": widths}, tiny.tensors(ARMADA))


def test_a_policy_of_earlier_rules_is_loaded_with_a_warning(path):
    """Only rules have changed since that version, and not the actions or the observation's entries.

    Options that were added later have their default values.
    """
    few = {"players": 2, "options": {"cards": False}, "observation": "0" * 16}
    with pytest.warns(UserWarning, match=r"made for version 1 of armada; it plays version \d"):
        policy = load_policy(of_version(path, ARMADA.earlier[0], **few), ARMADA)
    assert policy.game is ARMADA
    assert policy.metadata["variant"]["version"] == 1


@pytest.mark.parametrize(
    ("version", "changed", "message"),
    [
        (0, {}, "made for version 0, but this game has version"),
        (99, {}, "made for version 99, but this game has version"),
        (1, {"actions": "0" * 16}, "made for actions"),
        (1, {"options": {"cards": True}}, "made for options"),
        (1, {"options": None}, "made for options"),
        (1, {"players": 3}, "made for 3 players"),
    ],
)
def test_a_policy_of_earlier_rules_and_another_game_is_refused(path, version, changed, message):
    with pytest.raises(PolicyError, match=message):
        load_policy(of_version(path, version, **changed), ARMADA)


def test_a_policy_of_the_current_rules_gives_no_warning(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_policy(of_version(path, ARMADA.version))


@pytest.mark.parametrize(
    "variant",
    [
        None,
        {},
        {**GAME.variant, "players": 7},
        {**GAME.variant, "options": {"speed": 1}},
        {**GAME.variant, "options": None},
    ],
    ids=str,
)
def test_a_policy_of_an_impossible_game_is_refused(path, variant):
    forged(path, {"variant": variant})
    with pytest.raises(PolicyError):
        policy_game(path)
    with pytest.raises(PolicyError):
        load_policy(path)
    with pytest.raises(PolicyError):
        load_policy(path, GAME)


@pytest.mark.parametrize("game", ["armadora", make_env()], ids=["a name", "an environment"])
def test_a_game_argument_must_be_a_game(path, game):
    with pytest.raises(TypeError, match=r"game must be a Game, as make_game returns it"):
        load_policy(path, game)


@pytest.mark.parametrize("name", [None, 3, b"armadora-2p"])
@pytest.mark.parametrize("read", [load_policy, read_policy_metadata, policy_game])
def test_a_policy_must_be_given_as_text_or_path(name, read):
    with pytest.raises(TypeError, match="a policy must be given as text or a Path"):
        read(name)


def test_a_player_that_wraps_a_policy_is_not_a_policy():
    """Regression: the error reported a missing file, and suggested the player itself."""
    with pytest.raises(ValueError, match=r"call load_policy\('armadora-2p'\) with sample= or temp"):
        load_policy("armadora-2p:sample")
    with pytest.raises(FileNotFoundError, match="the shipped policies are"):
        load_policy("nobody:sample")


def test_states_of_another_game_are_refused(path):
    states = make_game("armada").new_states(0)
    wanted = rf"records of armadora, of {GAME.blank.itemsize} bytes.*, of {states.itemsize} bytes$"
    with pytest.raises(TypeError, match=wanted):
        load_policy(path).values(states, np.zeros(1, np.int64))


# --- refusals: networks --------------------------------------------------------------------------

FLOAT64 = TENSORS["value.0.bias"].astype(np.float64)
NAN = np.full_like(TENSORS["policy.1.bias"], np.nan)
INFINITE = TENSORS["value.1.weight"] * np.float32(np.inf)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"policy_0_weight": TENSORS["policy.0.weight"][:, 1:]},
            "policy.0 does not fit its input: it takes .* inputs instead of",
        ),
        ({"policy_1_weight": TENSORS["policy.1.weight"][:, :8]}, "policy.1 does not fit"),
        ({"value_1_weight": TENSORS["value.1.weight"][0]}, "value.1 does not fit"),
        ({"policy_1_bias": TENSORS["policy.1.bias"][1:]}, "policy.1 does not fit"),
        ({"policy_0_bias": None}, "policy.0 lacks"),
        ({"policy_0_weight": None}, "policy.0 lacks"),
        ({"policy_1_weight": None, "policy_1_bias": None}, "policy network has 16 outputs"),
        ({"value_0_weight": None, "value_1_weight": None}, "value network has"),
        ({"value_0_bias": FLOAT64}, "value.0 must be float32, not float32 and float64"),
        ({"policy_1_bias": NAN}, "not finite"),
        ({"value_1_weight": INFINITE}, "not finite"),
    ],
)
def test_networks_that_do_not_fit_are_refused(tmp_path, changes, message):
    tensors = changed(**changes)
    with pytest.raises(PolicyError, match=message):
        load_policy(forged(tmp_path / "policy.safetensors", tensors=tensors), GAME)
    with pytest.raises(PolicyError, match=message):
        save_policy(tmp_path / "other.safetensors", GAME, tensors, "tanh")
    assert not (tmp_path / "other.safetensors").exists()


@pytest.mark.parametrize("activation", [None, "sigmoid", ["relu"]])
def test_an_unknown_activation_is_refused(path, activation):
    with pytest.raises(PolicyError, match="choose from relu, tanh"):
        load_policy(forged(path, {"activation": activation}), GAME)


@pytest.mark.parametrize("name", ["format", "variant", "network", "survey", "advice"])
def test_details_with_names_of_armarl_s_own_entries_are_refused(path, name):
    """Regression: the detail replaced the entry, and the file could not be loaded."""
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"a detail must not be called {name}: ArmaRL writes"):
        save_policy(path, GAME, TENSORS, "tanh", **{name: "x"})
    assert path.read_bytes() == before


def test_a_name_in_place_of_a_game_is_refused(tmp_path):
    """Regression: the error was about an attribute that text does not have."""
    with pytest.raises(TypeError, match=r"game must be a Game, .* not 'armadora'"):
        save_policy(tmp_path / "policy.safetensors", "armadora", TENSORS, "tanh")


# --- safety --------------------------------------------------------------------------------------


def test_loading_runs_no_code_of_the_file(path, monkeypatch):
    """Loading unpickles nothing."""
    load_policy(path, GAME)

    def refuse(*_args, **_options):
        raise AssertionError("loading a policy unpickled something")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    load_policy(path, GAME)


def test_playing_needs_no_torch(path):
    """Loading and playing a policy imports neither torch nor stable-baselines3."""
    program = f"""
import sys
for name in ("torch", "stable_baselines3", "sb3_contrib", "pygame", "pydantic", "yaml"):
    sys.modules[name] = None  # importing it raises ImportError
from armarl import make_game
from armarl import play_match
result = play_match(make_game("armadora"), [{str(path)!r}, "random"], games=2)
print(result.games)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def full_disk(*_arguments, **_options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("moment", ["pathlib.Path.open", "os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_keeps_the_old_file(path, monkeypatch, moment):
    before = path.read_bytes()
    monkeypatch.setattr(moment, full_disk)
    with pytest.raises(OSError, match="No space left"):
        save_policy(path, GAME, tiny.tensors(GAME, seed=1), "tanh")
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_disk_that_fills_up_during_the_writing_keeps_the_old_file(path):
    """A limit of the file size stops the writing in the middle, as a full disk would."""
    program = f"""
import resource, signal, tiny
from pathlib import Path
from armarl import make_game
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
path = Path({str(path)!r})
try:
    tiny.policy(path.parent, make_game("armadora"), seed=1)
except OSError as error:
    print(sorted(file.name for file in path.parent.iterdir()))
"""
    before = path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == f"['{path.name}']\n", done.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", sorted(shipped_policies()))
def test_a_shipped_policy_beats_the_random_player(name):
    """Each policy wins at least 9 of 10 games. The bound of 6 of 10 is lower, but above chance."""
    policy, _ = play_match(policy_game(name), [name, "random"], games=24, seed=3).standings
    assert policy.win_rate > 0.6
