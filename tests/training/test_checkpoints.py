"""Checkpoints that are damaged, invalid, or from another run are refused."""

import pytest

from armarl.policies.safetensors_file import PolicyError, read_tensors, write_tensors
from armarl_training.run import checkpoint
from armarl_training.run.run import resume_run
from small_runs import config, stopped_run


@pytest.fixture
def stopped(tmp_path):
    """Return the folder of a run that was stopped after its first update."""
    return stopped_run(tmp_path / "run").folder


def test_a_damaged_checkpoint_is_refused(stopped):
    path = stopped / checkpoint.FILE
    data = path.read_bytes()
    flipped = bytearray(data)
    flipped[-5] ^= 1
    for damaged in (b"", data[:100], data[:-1], bytes(flipped)):
        path.write_bytes(damaged)
        with pytest.raises(PolicyError, match=r"checkpoint\.safetensors is damaged"):
            resume_run(stopped)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": {"players": 3}}, "checkpoint.* but the run is for .*'players': 3"),
        ({"learner": "maskable_ppo"}, "for the learner PPO, but config.yaml has MaskablePPO"),
        ({"environments": 8, "ppo": {"minibatch": 64}}, "the games' .* has shape .*, but config"),
        (
            {"network": {"widths": [8]}},
            "does not fit config.yaml: the network's .* has shape",
        ),
    ],
    ids=str,
)
def test_a_checkpoint_of_another_run_is_refused(stopped, changes, message):
    (stopped / "config.yaml").write_text(config(**changes).dump(), "utf-8")
    with pytest.raises(PolicyError, match=message):
        resume_run(stopped)


@pytest.mark.parametrize("learner", ["ppo", "td", "maskable_ppo"])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("states", 255, "is not a valid state of armadora|of another variant"),
        ("lineups", 99, "lineups must be from"),
    ],
)
def test_a_checkpoint_with_invalid_games_is_refused(tmp_path, learner, name, value, message):
    """The checksum is correct, but with these games compiled loops would access other memory."""
    stopped_run(tmp_path / "run", learner=learner)
    path = tmp_path / "run" / checkpoint.FILE
    tensors, progress = read_tensors(path, checkpoint.FORMAT)
    tensors = {key: tensor.copy() for key, tensor in tensors.items()}
    found = [key for key in tensors if key.startswith("games/") and key.endswith(f"/{name}")]
    tensors[found[0]][:] = value
    write_tensors(path, tensors, progress)
    with pytest.raises(PolicyError, match=message):
        resume_run(tmp_path / "run")


def test_a_checkpoint_with_a_game_without_a_learner_is_refused(tmp_path):
    """Regression: new games were dealt for ever, because none had a seat of the learner."""
    stopped_run(tmp_path / "run", learner="maskable_ppo")
    path = tmp_path / "run" / checkpoint.FILE
    tensors, progress = read_tensors(path, checkpoint.FORMAT)
    tensors = {key: tensor.copy() for key, tensor in tensors.items()}
    tensors["games/lineups"][0, 0] = 0
    write_tensors(path, tensors, progress)
    with pytest.raises(PolicyError, match="the lineups' learners must be from -1 to -1, not 0"):
        resume_run(tmp_path / "run")


def test_a_policy_file_is_not_a_checkpoint(stopped):
    resume_run(stopped).export().replace(stopped / checkpoint.FILE)
    with pytest.raises(PolicyError, match=r"not in the format .* of this version of ArmaRL"):
        resume_run(stopped)
