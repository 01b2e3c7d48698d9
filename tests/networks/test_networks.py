"""Networks with board cells and advice compute the same in NumPy and torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tiny
from armarl import play_match
from armarl.games.make_game import make_game
from armarl.networks.board_layout import Looking, around, places_of
from armarl.networks.policy_network import Network, NetworkError, check_network, widths
from armarl.players.advice import Advice
from armarl.policies.network_players import NetworkPlayer
from armarl.policies.safetensors_file import PolicyError, write_tensors
from armarl.policies.saved_policy import load_policy, read_policy_metadata, save_policy
from armarl.roster.make_player import make_player
from armarl_training.config.sections import NetworkConfig
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.ppo.networks import gathered, make_actor, make_critic, takers_of
from armarl_training.networks.integer_observations import IntegerObservations
from armarl_training.networks.layers import Tanh, tanh_in_place
from armarl_training.run.run import Run
from variants import KUHN_POKER

GAME = make_game("armadora", players=2)
ADVISERS = ("greedy", "greedy:style=settler")
GRIDS = [{"players": 2}, {"players": 3}, {"players": 4, "advanced": True}]
CHARTS = [{"players": 2}, {"players": 4, "cards": True, "enrolment": True}]
GAMES = [
    *(make_game("armadora", **options) for options in GRIDS),
    *(make_game("armada", **options) for options in CHARTS),
]
every_game = pytest.mark.parametrize(
    "game", GAMES, ids=lambda game: f"{game.name} {game.players} {game.options}"
)


def actor_of(game, seed=0, **settings):
    """Return an actor with random weights, so large that its choices differ."""
    torch.manual_seed(seed)
    actor = make_actor(game, NetworkConfig(widths=(24, 16), **settings))
    for weights in actor.parameters():
        torch.nn.init.normal_(weights, 0, 0.2)
    return actor


def player_of(game, actor, advisers=()):
    return NetworkPlayer(game, actor.tensors(), "relu", advisers=advisers)


# --- tables of cells -----------------------------------------------------------------------------


@pytest.mark.parametrize("variant", GRIDS, ids=str)
def test_a_cell_sees_itself_and_its_neighbours(variant):
    game = make_game("armadora", **variant)
    places = places_of(game)
    states, seats = tiny.positions(game, 5)
    observations = game.views(states, seats)[0]
    planes = game.observation.grid(observations).planes
    wide = np.pad(planes, ((0, 0), (0, 0), (1, 1), (1, 1)))
    seen = np.pad(observations, ((0, 0), (0, 1)))[:, around(places)]
    for row, column in np.ndindex(places.shape):
        patch = wide[:, :, row : row + 3, column : column + 3]
        found = seen[:, row * places.shape[1] + column].reshape(len(states), -1, 3, 3)
        assert np.array_equal(found, patch)


@pytest.mark.parametrize("options", CHARTS, ids=str)
def test_a_place_sees_its_neighbours_by_kind_of_border(options):
    game = make_game("armada", **options)
    states, seats = tiny.positions(game, 5)
    observations = game.views(states, seats)[0]
    graph = game.observation.graph(observations)
    nodes = np.concatenate(
        [graph.nodes, np.broadcast_to(graph.constants, (len(states), *graph.constants.shape))], 2
    )
    kinds = len(game.observation.board.kinds)
    wanted = np.zeros((*nodes.shape[:2], 1 + kinds, nodes.shape[2]), np.float32)
    wanted[:, :, 0] = nodes
    for (origin, target), kind in zip(graph.edges.T, graph.edge_kinds, strict=True):
        wanted[:, target, 1 + kind] += nodes[:, origin]
    looking = Looking(places_of(game))
    np.testing.assert_allclose(
        looking.first(observations), wanted.reshape(len(states), nodes.shape[1], -1), rtol=1e-5
    )
    assert np.array_equal(looking.second(nodes), looking.first(observations))


@every_game
def test_every_action_on_the_board_has_a_score_at_its_place(game):
    places, at = places_of(game), game.actions.places
    on_cells = places.cells * places.at
    none = on_cells + places.pairs.shape[1] * places.between
    scored = places.scores < none
    assert np.array_equal(scored, at.target >= 0)
    assert np.unique(places.scores[scored]).size == scored.sum()
    for action in np.flatnonzero(scored):
        score = places.scores[action]
        if at.origin[action] < 0:
            assert score // places.at == at.target[action]
        else:
            pair = (score - on_cells) // places.between
            assert places.pairs[:, pair].tolist() == [at.origin[action], at.target[action]]


def test_a_game_without_a_board_is_refused():
    with pytest.raises(ValueError, match="kuhn_poker has no board"):
        places_of(KUHN_POKER[0].make())


# --- NumPy and torch -----------------------------------------------------------------------------


@pytest.mark.parametrize("advisers", [(), ADVISERS], ids=["alone", "advised"])
@pytest.mark.parametrize("channels", [0, 8])
@every_game
def test_numpy_and_torch_give_the_same_values(game, channels, advisers):
    actor = actor_of(game, channels=channels, advisers=advisers)
    tensors = actor.tensors()
    check_network(game, tensors, "relu", len(advisers))
    states, seats = tiny.positions(game, 20)
    observations, _ = game.views(states, seats)
    advice = np.random.default_rng(0).integers(len(game.actions), size=(seats.size, len(advisers)))
    with torch.no_grad():
        wanted = actor(torch.from_numpy(observations), torch.from_numpy(advice)).numpy()
    network = Network(game, tensors, "relu")
    np.testing.assert_allclose(network.logits(observations, advice), wanted[:, :-1], atol=1e-4)
    np.testing.assert_allclose(network.values(observations), wanted[:, -1], atol=1e-4)
    again = actor_of(game, seed=1, channels=channels, advisers=advisers)
    again.take_over(tensors)
    assert all(np.array_equal(again.tensors()[name], tensors[name]) for name in tensors)


def test_gathered_gradients_match_their_definition():
    index = np.array([0, 3, 3, 6, 5, 1])  # 6 selects nothing
    x = torch.randn(3, 6, 2, dtype=torch.double, requires_grad=True)
    takers = takers_of(index, 6)
    assert torch.autograd.gradcheck(lambda x: gathered(x, torch.from_numpy(index), takers), (x,))


@every_game
def test_the_critic_s_cells_show_the_knowledge_of_every_seat(game):
    """A cell has the features that the player to move sees, then those that only others know."""
    kept = IntegerObservations(game)
    critic = make_critic(game, NetworkConfig(widths=(8,), channels=4), kept)
    own = places_of(game)
    states, seats = tiny.positions(game, 10)
    observations = game.views(states, seats)[0]
    secrets = np.empty((seats.size, kept.secrets), kept.dtype)
    kept.keep_secrets(states, seats, secrets)
    privileged = np.concatenate(
        [observations * kept.scales, secrets, np.zeros((seats.size, 1))], axis=1
    )
    seen = privileged[:, critic.board.seen]  # (n, features, cells)
    features = len(own.seen)
    known = np.isin(own.seen, kept.private).any(axis=1)
    assert len(critic.board.seen) == features + (game.players - 1) * known.sum()
    for k in range(1, game.players):
        others = game.views(states, (seats + k) % game.players)[0] * kept.scales
        cells = np.pad(others, ((0, 0), (0, 1)))[:, own.seen[known]]
        first = features + (k - 1) * known.sum()
        np.testing.assert_allclose(seen[:, first : first + known.sum()], cells, atol=1e-4)
    ways = 9 if own.is_grid else len(own.spread)
    inputs = ways * (len(critic.board.seen) + len(own.constants))
    assert critic.board.first.weight.shape[1] == inputs


# --- advice --------------------------------------------------------------------------------------


def test_advisers_are_the_scripted_player_and_see_only_their_seat():
    states, seats = tiny.positions(GAME, 40)
    advice = Advice(GAME, ADVISERS)
    found = advice.actions(states, seats)
    for k, adviser in enumerate(ADVISERS):
        player = make_player(adviser, GAME)
        seen = GAME.concealed(states, seats)
        assert np.array_equal(found[:, k], player.choose(seen, seats, np.zeros(seats.size)))
    other = GAME.determinised(states, seats, np.arange(seats.size))
    assert np.array_equal(found, advice.actions(other, seats))


@pytest.mark.parametrize("adviser", ["random", "greedy:noise=0.1", "armadora-2p", "nobody"])
def test_other_players_cannot_advise(adviser):
    with pytest.raises(ValueError, match=r"advise|no player"):
        Advice(GAME, [adviser])


def test_an_initial_network_follows_its_first_adviser():
    """The network's trust in the adviser outweighs the small initial logits."""
    actor = make_actor(GAME, NetworkConfig(widths=(16,), advisers=ADVISERS))
    states, seats = tiny.positions(GAME, 40)
    player = player_of(GAME, actor, ADVISERS)
    seen = GAME.concealed(states, seats)
    advised = make_player("greedy", GAME).choose(seen, seats, np.zeros(seats.size))
    assert np.array_equal(player.choose(seen, seats, np.zeros(seats.size)), advised)
    assert (player.probabilities(states, seats).max(axis=1) < 1).any()


@pytest.mark.filterwarnings("error")
def test_a_seat_that_is_not_to_move_has_values_and_no_probabilities():
    game = make_game("armada", players=3)
    player = tiny.network(game)
    states, seats = tiny.positions(game, 4)
    others = (seats + 1) % game.players
    thoughts = player.think(game.concealed(states, others), others, np.zeros(4))
    assert np.isfinite(thoughts.value).all()
    assert (thoughts.probabilities == 0).all()


@pytest.mark.parametrize("advisers", [(), ADVISERS], ids=["alone", "advised"])
@pytest.mark.parametrize("channels", [0, 8])
def test_an_empty_batch_gives_empty_answers(channels, advisers):
    player = player_of(GAME, actor_of(GAME, channels=channels, advisers=advisers), advisers)
    question = GAME.new_states([]), np.empty(0, np.int64)
    assert player.choose(*question, np.empty(0)).shape == (0,)
    assert player.probabilities(*question).shape == (0, len(GAME.actions))
    assert player.values(*question).shape == (0,)


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("advisers", [(), ADVISERS], ids=["alone", "advised"])
def test_a_saved_network_plays_as_before(tmp_path, advisers):
    actor = actor_of(GAME, channels=8, advisers=advisers)
    path = tmp_path / "policy.safetensors"
    save_policy(path, GAME, actor.tensors(), "relu", advisers)
    metadata = read_policy_metadata(path)
    assert metadata["network"] == widths(actor.tensors())
    assert metadata.get("advisers", []) == list(advisers)
    states, seats = tiny.positions(GAME)
    wanted = player_of(GAME, actor, advisers).choose(states, seats, np.zeros(seats.size))
    assert np.array_equal(load_policy(path).choose(states, seats, np.zeros(seats.size)), wanted)


def earlier_weights(name):
    """Return weights and advisers that use everything that a format could store."""
    if name == "armarl-policy-1":
        return tiny.tensors(GAME), ()
    if name == "armarl-policy-2":
        return actor_of(GAME).tensors(), ()
    return actor_of(GAME, channels=8, advisers=ADVISERS).tensors(), ADVISERS


@pytest.mark.parametrize("name", [f"armarl-policy-{number}" for number in (1, 2, 3)])
def test_files_of_earlier_formats_play_as_current_ones(tmp_path, name):
    tensors, advisers = earlier_weights(name)
    today, earlier = tmp_path / "today.safetensors", tmp_path / "earlier.safetensors"
    save_policy(today, GAME, tensors, "relu", advisers)
    metadata = {**read_policy_metadata(today), "format": name}
    if name == "armarl-policy-1":
        assert metadata["network"].pop("trunk") == []  # earlier files lack it
    write_tensors(earlier, tensors, metadata)
    loaded, wanted = load_policy(earlier), load_policy(today)
    assert loaded.metadata == metadata
    states, seats = tiny.positions(GAME)
    chosen = loaded.choose(states, seats, np.zeros(seats.size))
    assert GAME.legal_masks(states)[np.arange(seats.size), chosen].all()
    assert np.array_equal(loaded.logits(states, seats), wanted.logits(states, seats))
    assert np.array_equal(loaded.values(states, seats), wanted.values(states, seats))
    assert play_match(GAME, [str(earlier), "random"], games=2).games == 2


def test_advice_of_another_version_is_refused(tmp_path, monkeypatch):
    actor = actor_of(GAME, advisers=("greedy",))
    path = tmp_path / "policy.safetensors"
    with monkeypatch.context() as patch:
        patch.setattr(Advice, "digest", lambda self: "of another version")
        save_policy(path, GAME, actor.tensors(), "relu", ["greedy"])
    with pytest.raises(
        PolicyError, match="advice that differs from the advice of greedy in this version"
    ):
        load_policy(path)


@pytest.mark.parametrize(
    ("part", "shape", "message"),
    [
        ("cells.0.weight", (8, 5), r"cells\.0 does not fit"),
        ("cells.1.weight", None, "the part `cells` must be 2 layers, not 1"),
        ("mix.0.weight", (9, 16), "lacks its weight|does not fit"),
        ("at.0.weight", (4, 8), "does not fit"),
        ("ends.0.weight", (15, 8), "does not fit"),
        ("between.0.weight", (1, 9), "does not fit"),
        ("trust.0.weight", (3, 16), "does not fit"),
        ("value.0.weight", (1, 16), "does not fit"),
        ("elsewhere.0.weight", (1, 1), "do not belong to any"),
    ],
)
def test_parts_that_do_not_fit_are_refused(part, shape, message):
    tensors = actor_of(GAME, channels=8, advisers=ADVISERS).tensors()
    if shape is None:
        del tensors[part]
    else:
        tensors[part] = np.zeros(shape, np.float32)
    with pytest.raises(NetworkError, match=message):
        check_network(GAME, tensors, "relu", len(ADVISERS))


def test_another_number_of_advisers_is_refused():
    tensors = actor_of(GAME, advisers=ADVISERS).tensors()
    with pytest.raises(NetworkError, match="each of 1 advisers, not 1 layers with 2 outputs"):
        check_network(GAME, tensors, "relu", 1)


@pytest.mark.parametrize(
    ("name", "message"), [("kuhn_poker", "no board"), ("armada", r"cells\.0 does not fit")]
)
def test_cells_of_another_board_are_refused(name, message):
    game = make_game(name)
    tensors = tiny.tensors(game) | {
        name: tensor
        for name, tensor in actor_of(GAME, channels=8).tensors().items()
        if name.startswith("cells")
    }
    with pytest.raises(NetworkError, match=message):
        check_network(game, tensors, "tanh", 0)


@pytest.mark.parametrize("name", ["armadora", "armada"])
def test_ppo_can_learn_with_the_cells_of_a_board(name, tmp_path):
    network = {"widths": [16], "channels": 4, "advisers": ["greedy"]}
    config = TrainingConfig(**tiny.settings(game=name, network=network))
    learner = Run(config, tmp_path).learner
    before = learner.actor.tensors()
    for _ in range(4):  # the first rollouts of Armada contain no movement of bands
        figures = learner.iterate(0.0)
        assert np.isfinite(list(figures.values())).all()
    after = learner.actor.tensors()
    still = [name for name in before if np.array_equal(after[name], before[name])]
    assert not still
    policy, game = learner.policy(average=True), make_game(name)
    check_network(game, policy.tensors, policy.activation, 1)
    states, seats = tiny.positions(game, 10)
    chosen = policy.choose(states, seats, np.full(seats.size, 0.5))
    assert game.legal_masks(states)[np.arange(seats.size), chosen].all()


def test_tanh_of_bfloat16_and_its_gradient_are_equal_to_torch_s():
    x = torch.linspace(-6, 6, 2001).bfloat16().requires_grad_()
    y = x.detach().clone().requires_grad_()
    ours, theirs = Tanh()(x), torch.tanh(y)
    torch.testing.assert_close(ours, theirs)
    weights = torch.linspace(-1, 1, 2001).bfloat16()
    gradients = torch.autograd.grad(ours, x, weights), torch.autograd.grad(theirs, y, weights)
    torch.testing.assert_close(*gradients)


def test_tanh_of_float32_is_nearly_equal_to_torch_s():
    x = torch.cat([torch.linspace(-12, 12, 20001), torch.linspace(-1e-3, 1e-3, 101)])
    x = torch.cat([x, torch.tensor([float("inf"), -float("inf"), 0.0])])
    found, wanted = tanh_in_place(x.clone()), torch.tanh(x.double())
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), wanted, atol=1e-30, rtol=5e-7)
    assert tanh_in_place(torch.tensor([float("nan")])).isnan()
