"""The arena on a Ray cluster with several nodes on this machine, even if nodes die."""

import os
import socket
from functools import partial

import numpy as np
import pytest
import ray
import yaml
from ray.cluster_utils import Cluster

import tiny
from armarl import play_match
from armarl.arena.play_tournament import play_tournament
from armarl.cli.__main__ import main
from armarl.games.make_game import make_game
from armarl.players import registry
from armarl.workers.ray_cluster import ClusterError, RayCluster
from armarl_training.config.training_config import TrainingConfig
from armarl_training.run.run import start_run
from paths import ROOT

TWO = make_game("armadora")
NAMES = ["random", "greedy", "random:patient"]


@pytest.fixture(scope="module")
def nodes():
    """Start a head node without games, and a node with one core whose workers see the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "PYTHONPATH",
            os.pathsep.join(
                str(ROOT / name) for name in ("envs", "training", "tests/helpers", "tests/workers")
            ),
        )
        patch.setenv("RAY_worker_niceness", "0")  # otherwise other processes slow the workers down
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        cluster.add_node(num_cpus=1)
        ray.init(cluster.address, log_to_driver=False)
        yield cluster
        ray.shutdown()
        cluster.shutdown()


def test_a_match_on_a_cluster_has_the_same_games_and_finds_the_players(nodes, tmp_path):
    mine = tiny.policy(tmp_path, TWO, name="mine.safetensors")
    alone = play_match(TWO, [mine, "random"], 300, seed=3)
    cluster = RayCluster()
    assert play_match(TWO, [mine, "random"], 300, seed=3, workers=cluster) == alone
    # Each job plays both tables together.
    assert sum(share.jobs for share in cluster.shares.values()) == 3
    assert alone.standings[0].player == "mine"


def test_a_killed_worker_loses_no_game(nodes, tmp_path):
    players = [tiny.KilledOnce(TWO, tmp_path), "random"]
    found = play_match(TWO, players, 300, seed=4, workers=RayCluster())
    assert players[0].mark.exists()
    assert found == play_match(TWO, players, 300, seed=4)


def test_a_lost_node_loses_no_game(nodes, tmp_path):
    """The node disappears with its results after the first games. Another node joins."""
    alone = play_tournament(TWO, NAMES, 32, seed=5, folder=tmp_path / "alone")
    lost = nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()

    def lose(done, games):
        nonlocal lost
        if lost is not None:
            nodes.remove_node(lost, allow_graceful=False)
            lost = None
            nodes.add_node(num_cpus=1)

    cluster = RayCluster()
    found = play_tournament(
        TWO, NAMES, 32, seed=5, workers=cluster, folder=tmp_path / "ray", progress=lose
    )
    assert lost is None
    assert found == alone
    assert contents(tmp_path / "ray") == contents(tmp_path / "alone")


@pytest.mark.parametrize("learner", ["ppo", "td", "critic"])
def test_a_training_on_a_cluster_gives_the_same_policy(nodes, tmp_path, monkeypatch, learner):
    """The training has several shards and earlier versions. One worker is killed."""
    monkeypatch.setitem(registry._players, "deadly", partial(tiny.KilledOnce, folder=tmp_path))
    settings = tiny.settings(
        learner=learner,
        options={"board": "mini"},
        shards=2,
        opponents={"share": 0.5, "players": {"deadly": 0.5}, "snapshot_every": 256},
    )
    runs = {}
    for name, address in (("clustered", "auto"), ("alone", None)):
        runs[name] = start_run(TrainingConfig(**settings, ray=address), tmp_path / name)
        assert runs[name].train()
    assert (tmp_path / "killed").exists()
    arrays, values = runs["alone"].learner.save()
    others, theirs = runs["clustered"].learner.save()
    assert values == theirs
    assert arrays.keys() == others.keys()
    assert all(np.array_equal(array, others[name]) for name, array in arrays.items())


def contents(folder):
    """Return the results and records of a tournament."""
    files = [*folder.glob("*.json*"), *folder.glob("records/*")]
    assert len(files) > 2
    return {path.relative_to(folder): path.read_bytes() for path in files}


def test_a_job_whose_worker_always_dies_is_reported(nodes):
    cluster = RayCluster(retries=1)
    with pytest.raises(
        ClusterError, match="a job was started 2 times, and its worker or node died"
    ):
        play_match(TWO, [tiny.Killed(), "random"], 2, workers=cluster)


def test_errors_on_a_cluster_are_raised_unchanged(nodes):
    with pytest.raises(ValueError, match="invalid literal for int"):
        list(RayCluster().results(int, ["1", "one"]))


def test_another_version_on_a_node_is_refused(nodes, monkeypatch):
    monkeypatch.setattr("armarl.workers.ray_cluster._sources", lambda package: "another")
    with pytest.raises(
        ClusterError, match=r"has ArmaRL sources .* install the same ArmaRL on every node"
    ):
        play_match(TWO, ["random", "random"], 2, workers=RayCluster())


def test_the_command_line_can_use_a_cluster(nodes, capsys):
    arguments = ["evaluate", "greedy", "random", "--games", "20", "--seed", "2"]
    assert main([*arguments, "--workers", "1"]) == 0
    alone = capsys.readouterr()
    assert main([*arguments, "--ray", "auto"]) == 0
    clustered = capsys.readouterr()
    # In between, Ray may report workers that died in earlier tests, in colour.
    assert alone.out.strip() in clustered.out
    assert " 1 jobs in " in clustered.err


@pytest.fixture
def no_cluster(monkeypatch):
    """Start a server that is not Ray. Ray would take minutes to notice this."""

    def refuse(address, **options):
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refuse)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("shards", [1, 2])
def test_a_training_without_its_cluster_does_not_start(no_cluster, tmp_path, capsys, shards):
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(tiny.settings(shards=shards)), "utf-8")
    folder = tmp_path / "run"
    arguments = ["train", str(tmp_path / "small.yaml"), "--run", str(folder), "--ray", no_cluster]
    assert main(arguments) == 1
    assert f"there is no Ray cluster at '{no_cluster}'" in capsys.readouterr().err
    assert not folder.exists()


def test_a_missing_cluster_is_reported(no_cluster):
    with pytest.raises(ClusterError, match=r"no Ray cluster at '127.*' \(nobody .*ray start"):
        list(RayCluster(no_cluster).results(int, ["1"]))


@pytest.mark.parametrize("address", ["{}", "ray://{}", "[::ffff:127.0.0.1]:1", "127.0.0.1:70000"])
@pytest.mark.parametrize("named", [False, True])
def test_ray_is_not_asked_if_nothing_listens_at_its_address(
    no_cluster, monkeypatch, address, named
):
    """Ray would search for minutes. The address may also come from an environment variable."""
    monkeypatch.setattr(ray, "init", lambda *_, **__: pytest.fail("Ray was asked"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = address.format(f"127.0.0.1:{server.getsockname()[1]}")
    if named:
        monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(ClusterError, match=r"no Ray cluster at .*ray start"):
        RayCluster("auto" if named else address).connect()


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"retries": -1}])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be from"):
        RayCluster(**wrong)
