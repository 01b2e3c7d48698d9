"""PPO on a GPU in Numba's simulator; `test_gpu.py` runs this file in its own process."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest
import torch

import check_gpu
import patient_simulator
import tiny
import variants
from armarl import make_game
from armarl.compiler.decorators import PLAIN_PYTHON
from armarl.core.verbs import ENDED
from armarl.devices import cuda_game
from armarl.devices.cuda_game import CudaGame
from armarl.environments.seat_loops import LEARNER
from armarl.players.simple_players import GreedyPlayer, style_names
from armarl.roster.make_player import make_player
from armarl_training.config.training_config import ConfigError, TrainingConfig
from armarl_training.learners.ppo.rollout.cuda_rival_seats import CudaRivals
from armarl_training.learners.ppo.rollout.rival_seats import HostRivals, Position
from armarl_training.learners.ppo.update.network_inputs import InputReader
from armarl_training.networks.integer_observations import IntegerObservations, Kept, keep
from armarl_training.networks.learner_devices import OnCpu, OnGpu
from armarl_training.run.run import Run, resume_run, start_run

# The simulator busy-waits for its threads, while these threads wait for the interpreter's lock.
sys.setswitchinterval(1e-4)

KUHN = {"game": "kuhn_poker"}
MINI = {"game": "armadora", "options": {"board": "mini"}}
ARMADA = {
    **{"game": "armada", "options": {"players": 3, "cards": True}, "environments": 4},
    "ppo": {"rollout_length": 6, "epochs": 2, "minibatch": 12},
    "network": {"widths": [8], "advisers": ["greedy:style=admiral"]},
    "opponents": {"players": {"random": 0.5, "greedy": 0.5}},
}
EVERYTHING = {
    **MINI,
    "network": {"widths": [16], "advisers": ["greedy"], "channels": 4},
    "ppo": {
        **{"rollout_length": 8, "magnet": 0.1, "epochs": 2, "minibatch": 64},
        **{"openings": 0.5, "opening_length": 3},
    },
    "early_reward": {"reward": "gold"},
}
ALONE = {"opponents": {"share": 0}}
LOOKS = {**MINI, "ppo": {"rollout_length": 8, "looks": 2, "epochs": 2, "minibatch": 64}, **ALONE}


def learner(tmp_path, device="cuda", **changes):
    return Run(TrainingConfig(**tiny.settings(device=device, **changes)), tmp_path).learner


def games_of(its_learner):
    (games,) = its_learner.shards.parts
    return games


def played_by(its_learner, monkeypatch):
    """Return a list to which each later rollout of the learner is appended."""
    games, found = games_of(its_learner), []
    play = games.play

    def noted(*arguments):
        found.append(play(*arguments))
        return found[-1]

    monkeypatch.setattr(games, "play", noted)
    return found


def compare_rollouts(played, its_played):
    """Compare two rollouts byte for byte, but log-probabilities only approximately.

    The arrays of `its_played` are tensors.
    """
    ours, theirs = played._asdict(), its_played._asdict()
    for name, array in ours.items():
        assert isinstance(theirs[name], torch.Tensor)
        found = theirs[name].numpy()
        assert (found.dtype, found.shape) == (array.dtype, array.shape), name
        if name == "lookahead_values":  # valid only for the learner's decisions
            learners = ours["learners"][:-1]
            array, found = array[learners], found[learners]
        # The GPU computes sums of exponentials in another order. The absolute tolerance is for
        # probabilities near 1, whose logarithm is near 0.
        if name == "log_probs":
            np.testing.assert_allclose(found, array, rtol=5e-7, atol=5e-7)
        else:
            assert found.tobytes() == array.tobytes(), name


@pytest.fixture
def same_chance(monkeypatch):
    """Give every device the same random numbers, and minibatches in the same order."""

    def random(device, rng, shape):
        return device.put(own_chance(device).random(tuple(shape)))

    def shuffled(device, rng, rows):
        return device.put(own_chance(device).permutation(device.fetch(rows)))

    def own_chance(device):
        return vars(device).setdefault("chance_of_the_test", np.random.default_rng(1))

    for device in (OnCpu, OnGpu):
        monkeypatch.setattr(device, "random", random)
        monkeypatch.setattr(device, "shuffled", shuffled)


def test_this_is_the_simulator():
    assert cuda_game.SIMULATED
    assert not PLAIN_PYTHON


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    "settings",
    [KUHN, MINI, ARMADA, EVERYTHING, LOOKS],
    ids=["kuhn", "mini", "armada", "everything", "looks"],
)
def test_it_learns_what_the_cpu_learns_from_the_same_chance(
    settings, precision, same_chance, tmp_path, monkeypatch
):
    """Check that rollouts are equal byte for byte, and weights approximately.

    Weights differ, because the devices sum means in another order.
    """
    for module in ("ppo_learner", "rollout.ppo_games"):  # no incremental passes on the CPU either
        monkeypatch.setattr(
            f"armarl_training.learners.ppo.{module}.use_incremental", lambda *given: False
        )
    settings = {**settings, **ALONE}
    settings["ppo"] = {**settings.get("ppo", {}), "precision": precision}
    here, there = learner(tmp_path, "cpu", **settings), learner(tmp_path, **settings)
    played, its_played = played_by(here, monkeypatch), played_by(there, monkeypatch)
    for done in (0.0, 0.1):
        figures, its_figures = here.iterate(done), there.iterate(done)
        if done == 0:
            assert len(played) == len(its_played) == 1
            compare_rollouts(played[0], its_played[0])
        assert here.decisions == there.decisions
        for name, figure in figures.items():
            assert its_figures[name] == pytest.approx(figure, rel=1e-2, abs=1e-4), name
    weights, its_weights = here.save()[0], there.save()[0]
    assert weights.keys() == its_weights.keys()
    for name in weights:
        if name.startswith("networks/"):
            np.testing.assert_allclose(its_weights[name], weights[name], atol=2e-3, err_msg=name)


@variants.every_game
def test_an_iteration_is_that_of_the_cpu(variant):
    """Check that games are equal byte for byte, and gradients of the same rollout approximately."""
    with patient_simulator.at_once():
        check_gpu.check_learner(variant.make(), 4, 5)


def test_another_iteration_is_found(monkeypatch):
    game = make_game("kuhn_poker")
    monkeypatch.setattr(OnGpu, "deviation", lambda device, array: array.std() * 1.01)
    with pytest.raises(check_gpu.DifferenceError, match="gradient"):
        check_gpu.check_learner(game, 8, 5)
    monkeypatch.setattr(OnGpu, "bits", lambda device, masks: OnCpu(game).bits(1 - masks.numpy()))
    with pytest.raises((check_gpu.DifferenceError, TypeError)):
        check_gpu.check_learner(game, 8, 5)


@pytest.mark.parametrize("settings", [KUHN, EVERYTHING], ids=["kuhn", "everything"])
def test_it_goes_on_from_a_checkpoint_to_the_same_bytes(settings, tmp_path):
    settings = {**settings, "opponents": {"share": 0.5}}
    config = TrainingConfig(**tiny.settings(device="cuda", **settings))
    one, other = Run(config, tmp_path), Run(config, tmp_path)
    one.learner.iterate(0.0)
    one.pool.take(one.learner.policy(average=False), 7)
    one.learner.iterate(0.1)
    tensors, values = one.learner.save()
    other.pool.restore([7])
    other.learner.restore({name: array.copy() for name, array in tensors.items()}, values)
    assert one.learner.iterate(0.2) == other.learner.iterate(0.2)
    (tensors, values), (its_tensors, its_values) = one.learner.save(), other.learner.save()
    assert values == its_values
    assert tensors.keys() == its_tensors.keys()
    for name in tensors:
        assert tensors[name].tobytes() == its_tensors[name].tobytes(), name


def test_a_run_changes_its_device_and_back(tmp_path):
    config = TrainingConfig(**tiny.settings(**KUHN, device="cuda", total_decisions=200))
    run = start_run(config, tmp_path / "run")
    assert run.train()
    changes = ["total_decisions=1200"]
    there = resume_run(tmp_path / "run", [*changes, "device=cpu"])
    saved, its_saved = run.learner.save()[0], there.learner.save()[0]
    assert all(saved[name].tobytes() == its_saved[name].tobytes() for name in saved)
    assert there.train()
    assert there.pool.snapshots
    there = resume_run(tmp_path / "run", ["total_decisions=1400", "device=cuda"])
    assert there.learner.decisions >= 1200
    assert there.train()


# --- nothing leaves the GPU ----------------------------------------------------------------------


@pytest.fixture
def crossings(monkeypatch):
    """Count the calls that move data between GPU and host, or wait for the GPU."""
    count: Counter[str] = Counter()
    # The counted functions that are running. Calls inside them do not count. Neither do calls
    # inside `_seen`: it makes NumPy arrays for the simulator, but moves nothing on a real GPU.
    inside = []

    def counted(owner, name):
        plain = getattr(owner, name)

        def call(*arguments, **named):
            if not inside:
                count[name] += 1
            inside.append(name)
            try:
                return plain(*arguments, **named)
            finally:
                inside.pop()

        monkeypatch.setattr(owner, name, call)

    seen = CudaGame._seen

    def shown(*arguments):
        inside.append("_seen")
        try:
            return seen(*arguments)
        finally:
            inside.pop()

    monkeypatch.setattr(CudaGame, "_seen", shown)
    for name in ("fetch", "put"):
        counted(CudaGame, name)
    for name in ("cpu", "numpy", "item", "tolist", "nonzero", "__bool__", "__float__", "__int__"):
        counted(torch.Tensor, name)
    for name in ("from_numpy", "tensor", "as_tensor"):
        counted(torch, name)
    return count


@pytest.mark.parametrize("settings", [EVERYTHING, LOOKS], ids=["everything", "looks"])
def test_nothing_leaves_the_gpu_while_it_learns_alone(settings, crossings, tmp_path):
    looks = settings["ppo"].get("looks", 0)
    for steps in (4, 8):
        ppo = {"rollout_length": steps, "looks": looks, "minibatch": 16, "epochs": steps // 4}
        its_learner = learner(tmp_path, **{**settings, "ppo": ppo, **ALONE})
        its_learner.iterate(0.0)
        crossings.clear()
        its_learner.iterate(0.1)
        # The three transfers are the number of decisions, the sums of statistics, and the last
        # gradient norm.
        assert crossings == {"nonzero": 1, "fetch": 1, "__float__": 1}


def test_rivals_cost_a_few_counts_in_an_iteration_and_none_in_a_step(crossings, tmp_path):
    for steps in (4, 8):
        settings = {**KUHN, "ppo": {"rollout_length": steps}, "opponents": {"share": 0.5}}
        run = Run(TrainingConfig(**tiny.settings(device="cuda", **settings)), tmp_path)
        run.learner.iterate(0.0)
        for decisions in (5, 6):
            run.pool.take(run.learner.policy(average=False), decisions)
        run.learner.iterate(0.0)  # copies the networks of the pool's new policies to the GPU
        crossings.clear()
        run.learner.iterate(0.1)
        slots = sum(not isinstance(player, GreedyPlayer) for player in run.pool.players)
        # Lineups and player names move to the GPU. The number of games that each unscripted player
        # may sit in, and the learner's returns against each opponent, move to the host.
        expected = {"put": 2, "nonzero": 1 + slots, "fetch": 2, "__float__": 1}
        assert crossings == expected


# --- opponents -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "players"),
    [
        (KUHN, {}),
        (KUHN, {"greedy:noise=0.5": 1.0}),
        (MINI, {}),
        (MINI, {"random:noise=0": 1.0, "greedy:first_random=1,noise=0.5": 1.0}),
        (ARMADA, {}),
        (ARMADA, {"greedy:first_random=1": 1.0, "greedy:style=admiral,noise=0.4": 1.0}),
    ],
    ids=["kuhn", "kuhn noisy", "mini", "mini noisy", "armada", "armada noisy"],
)
def test_rivals_decide_as_they_do_on_the_cpu(settings, players, tmp_path):
    opponents = {**settings.get("opponents", {}), "share": 1.0}
    if players:
        opponents["players"] = players
    settings = {**settings, "environments": 40, "opponents": opponents}
    run = Run(TrainingConfig(**tiny.settings(device="cuda", **settings)), tmp_path)
    run.pool.take(run.learner.policy(average=False), 1)
    play = games_of(run.learner).self_play
    rivals, device, newest = play.rivals, play._device, len(run.pool.players) - 1
    assert isinstance(rivals, CudaRivals)
    rivals.begin()
    all_over = play.batch.new_turn()
    all_over.ends[:] = ENDED
    rivals.note_ends(all_over)  # new lineups, in which the earlier version may also play
    host = HostRivals(run.game, run.pool, np.random.default_rng(0), 40, rivals._advice)
    turn = play._turn
    for _ in range(3):
        play._see(0)
        held = device.along(rivals.lineups, turn.seats[:, None], axis=1)[:, 0]
        draws, actions = device.random(play.rng, (40,)), device.put(np.full((40, 1), -1))
        advice = rivals.advised(play.batch, turn, held, draws)
        seen = play._rollout.features[0], advice
        rivals.answer(Position(play.batch, turn, held, draws, *seen, actions))
        there, wanted = play.batch.to("cpu"), np.full((40, 1), -1)
        its_turn = there.load_states(there.states)
        advised = host.advised(there, its_turn, held.numpy(), draws.numpy())
        listen = held.numpy() == LEARNER
        assert np.array_equal(advice.numpy()[listen], advised[listen])
        host.answer(Position(there, its_turn, held.numpy(), draws.numpy(), None, None, wanted))
        same, his = actions.numpy() == wanted, held.numpy()[:, None] == newest
        assert same[~his].all()
        assert same[his].mean() > 0.8  # not 1, because the GPU rounds the network to bfloat16
        assert ((wanted == -1)[:, 0] == (held.numpy() == LEARNER)).all()
        play.batch.step(turn.masks.argmax(1), out=turn)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("armadora", {"players": 3}),
        ("armadora", {"players": 4, "advanced": True}),
        ("armada", {"players": 2}),
        ("armada", {"players": 4, "cards": True}),
    ],
    ids=str,
)
def test_scripted_players_advise_as_they_do_on_the_cpu(name, options):
    game = make_game(name, **options)
    there, (states, seats) = OnGpu(game, "cuda"), tiny.positions(game, 12)
    draws = np.random.default_rng(0).random(len(states))
    draws[0] = np.nextafter(1, 0)
    for style in style_names(game)[-2:]:
        player = make_player(f"greedy:style={style}", game)
        assert isinstance(player, GreedyPlayer)
        wanted = player.choose(game.concealed(states, seats), seats, draws)
        asked = there.put(states), there.put(seats), there.put(draws)
        found = there.scripted_actions(*asked, player.style)
        assert np.array_equal(there.fetch(found), wanted)
    nobody = np.where(np.arange(len(draws)) % 2, -np.inf, draws)
    styles = np.full(len(draws), player.style)
    found = there.scripted_actions(*asked[:2], there.put(nobody), there.put(styles))
    assert np.array_equal(there.fetch(found), np.where(np.isinf(nobody), 0, wanted))


def test_whoever_plays_on_the_cpu_alone_is_refused(tmp_path):
    for player in ("random:patient,noise=0.2", "random:patient", "rollout:5"):
        opponents = {"share": 0.5, "players": {player: 1.0}}
        with pytest.raises(ConfigError, match="runs on the CPU only; on a GPU choose from random"):
            learner(tmp_path, **MINI, opponents=opponents)
        learner(tmp_path, **MINI, opponents={**opponents, "share": 0})


# --- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_what_is_kept_and_read_has_the_bytes_of_the_cpu(precision):
    game = make_game("armada", players=3, cards=True)
    here, there = IntegerObservations(game), IntegerObservations(game, OnGpu(game, "cuda"))
    states, seats = tiny.positions(game, 8)
    found = []
    for kept in (here, there):
        put = kept.device.put
        its_states, its_seats = put(states), put(seats)
        observations, _ = kept.device.views(its_states, its_seats)
        seen = kept.device.zeros(observations.shape, kept.dtype)
        secrets = kept.device.zeros((len(seats), kept.secrets), kept.dtype)
        kept.keep(observations, seen)
        kept.keep_secrets(its_states, its_seats, secrets)
        reading, chosen = InputReader(kept, precision), put(np.array([3, 1, 1]))
        read = [reading.seen(seen), reading.privileged(seen, secrets, chosen)]
        found.append([kept.device.fetch(seen), kept.device.fetch(secrets), *read])
    for ours, theirs in zip(*found, strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs) if isinstance(ours, np.ndarray) else ours.equal(theirs)


def test_bytes_that_are_no_states_are_shown_as_bytes():
    """Check that bytes are not shown as state records because their rows have the same length."""
    game = make_game("armadora")
    there, size = OnGpu(game, "cuda"), game.blank.dtype.itemsize
    observations, ones = there.put(np.ones((2, size), np.float32)), np.ones(size, np.float32)
    kept = there.zeros((2, size), np.uint8)
    there.run(keep, 2, Kept(observations, there.put(ones), kept))
    assert (there.fetch(kept.float()) == 1).all()
