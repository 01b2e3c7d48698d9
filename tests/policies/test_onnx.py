"""Players from ONNX files play the outputs of their networks. Files that do not fit are refused."""

import pickle

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tiny
from armarl import play_match
from armarl.games.make_game import make_game
from armarl.players.protocol import choose_legally
from armarl.policies.onnx_graph import reads_other_files
from armarl.roster.make_player import make_player
from variants import every_game

TWO = make_game("armadora")


def save(path, size, actions, batch="batch", kind=TensorProto.FLOAT):
    """Save a linear network with random weights. Return the weights."""
    weights = np.random.default_rng(0).normal(size=(size, actions)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["seen", "weights"], ["logits"])],
        "linear",
        [helper.make_tensor_value_info("seen", kind, [batch, size])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, actions])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return weights


@every_game
def test_the_player_plays_the_highest_logit(variant, tmp_path):
    game = variant.make()
    path = tmp_path / "mine.onnx"
    weights = save(path, game.observation.size, len(game.actions))
    player = make_player(f"onnx:{path}", game)
    states, seats = tiny.positions(game)
    observations, masks = game.views(states, seats)
    logits = np.where(masks, observations @ weights, -np.inf)
    assert np.array_equal(player.choose(states, seats, np.zeros(seats.size)), logits.argmax(axis=1))
    again = pickle.loads(pickle.dumps(player))
    assert np.array_equal(again.choose(states, seats, np.zeros(seats.size)), logits.argmax(axis=1))


def test_the_player_can_draw_by_the_logits(tmp_path):
    path = tmp_path / "mine.onnx"
    weights = save(path, TWO.observation.size, len(TWO.actions))
    player = make_player(f"onnx:{path},sample", TWO)
    state = TWO.concealed(TWO.new_states(3), np.zeros(1, int))
    draws = (np.arange(4000) + 0.5) / 4000
    states, seats = TWO.taken(state, np.zeros(4000, int)), np.zeros(4000, int)
    chosen = choose_legally(player, TWO, states, seats, draws)
    observations, masks = TWO.views(state, seats[:1])
    odds = np.where(masks, np.exp(observations @ weights), 0)[0]
    expected = odds / odds.sum()
    assert np.allclose(np.bincount(chosen, minlength=expected.size) / 4000, expected, atol=0.001)


def test_worker_processes_can_use_the_player(tmp_path):
    path = tmp_path / "mine.onnx"
    save(path, TWO.observation.size, len(TWO.actions))
    names = [f"onnx:{path}", "random"]
    alone = play_match(TWO, names, games=140, seed=1)
    assert play_match(TWO, names, games=140, seed=1, workers=2) == alone


SIZE, ACTIONS = TWO.observation.size, len(TWO.actions)


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": SIZE + 1, "actions": ACTIONS},
        {"size": SIZE, "actions": ACTIONS - 1},
        {"size": SIZE, "actions": ACTIONS, "batch": 1},
    ],
    ids=["observations", "actions", "batch"],
)
def test_networks_of_other_shapes_are_refused(wrong, tmp_path):
    path = tmp_path / "wrong.onnx"
    save(path, **wrong)
    with pytest.raises(ValueError, match=rf"take one input of float32 \(batch, {SIZE}\)"):
        make_player(f"onnx:{path}", TWO)


def test_a_file_that_is_not_onnx_is_refused(tmp_path):
    path = tmp_path / "mine.onnx"
    path.write_bytes(b"\x00garbage" * 100)
    with pytest.raises(ValueError, match="is not an ONNX file"):
        make_player(f"onnx:{path}", TWO)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        make_player(f"onnx:{tmp_path}/none.onnx", TWO)


def test_a_newer_version_of_the_format_is_named(tmp_path):
    """Regression: the error said that it was not an ONNX file. onnx 1.23 writes this version."""
    path = tmp_path / "mine.onnx"
    save(path, SIZE, ACTIONS)
    model = onnx.load(path)
    model.ir_version = 99
    onnx.save(model, path)
    told = r"IR version 99, and onnxruntime \d.* reads versions up to (\d+): .*ir_version=\1"
    with pytest.raises(ValueError, match=told) as caught:
        make_player(f"onnx:{path}", TWO)
    assert "is not an ONNX file" not in str(caught.value)


def test_weights_in_other_files_are_refused(tmp_path):
    """ONNX allows weights in other files, at any path. Here they must be in the same file."""
    path = tmp_path / "mine.onnx"
    save(path, SIZE, ACTIONS)
    model = onnx.load(path)
    onnx.save(model, path, save_as_external_data=True, location="beside", size_threshold=0)
    assert (tmp_path / "beside").stat().st_size == SIZE * ACTIONS * 4
    with pytest.raises(ValueError, match=r"has weights in another file.*external_data=False"):
        make_player(f"onnx:{path}", TWO)


def outside(place):
    """Return weights at a path in the current folder, where ONNX Runtime would find them."""
    tensor = TensorProto(name="weights", data_type=TensorProto.FLOAT, dims=[SIZE, ACTIONS])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=place)
    return tensor


def branch(weights):
    """Return a graph inside a node, with the weights in it."""
    output = helper.make_tensor_value_info("w", TensorProto.FLOAT, None)
    return helper.make_graph([], "branch", [], [output], [weights])


def with_weights(weights, where):
    """Return the linear network with its weights in another part of the file."""
    if where == "constant":
        nodes = [helper.make_node("Constant", [], ["weights"], value=weights)]
    elif where == "sparse":
        tensor = helper.make_sparse_tensor(weights, outside("secret"), [SIZE, ACTIONS])
        nodes = [helper.make_node("Constant", [], ["weights"], sparse_value=tensor)]
    else:
        branches = {"then_branch": branch(weights), "else_branch": branch(weights)}
        nodes = [helper.make_node("If", ["seen"], ["weights"], **branches)]
    graph = helper.make_graph(
        [*nodes, helper.make_node("MatMul", ["seen", "weights"], ["logits"])],
        "linear",
        [helper.make_tensor_value_info("seen", TensorProto.FLOAT, ["batch", SIZE])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", ACTIONS])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("where", ["constant", "sparse", "branch"])
def test_weights_in_other_files_are_refused_in_every_part(where, tmp_path, monkeypatch):
    """Regression: a file in the current folder was read."""
    monkeypatch.chdir(tmp_path)
    np.ones((SIZE, ACTIONS), np.float32).tofile("secret")
    path = tmp_path / "mine.onnx"
    path.write_bytes(with_weights(outside("secret"), where).SerializeToString())
    with pytest.raises(ValueError, match="has weights in another file"):
        make_player(f"onnx:{path}", TWO)


def test_weights_in_other_parts_of_the_same_file_are_accepted(tmp_path):
    weights = numpy_helper.from_array(np.ones((SIZE, ACTIONS), np.float32))
    path = tmp_path / "mine.onnx"
    path.write_bytes(with_weights(weights, "constant").SerializeToString())
    states, seats = tiny.positions(TWO)
    player = make_player(f"onnx:{path}", TWO)
    choose_legally(player, TWO, states, seats, np.zeros(seats.size))


@pytest.mark.parametrize("content", [b"\x3a\xff", b"\xff" * 11, b"\x3b", b"\x10\x01" * 10**6])
def test_damaged_messages_are_refused(content):
    with pytest.raises(ValueError, match=r"damaged|cut|fields"):
        reads_other_files(content)


def network(path, nodes, outputs=(("logits", ("batch", ACTIONS)),), functions=()):
    """Write a network whose `nodes` use `sums`: the observations times a matrix of ones."""
    weights = numpy_helper.from_array(np.ones((SIZE, ACTIONS), np.float32), "weights")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["seen", "weights"], ["sums"]), *nodes],
        "network",
        [helper.make_tensor_value_info("seen", TensorProto.FLOAT, ["batch", SIZE])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs],
        [
            weights,
            numpy_helper.from_array(np.array(0.5, np.float32), "part"),
            numpy_helper.from_array(np.array(True), "yes"),
            numpy_helper.from_array(np.zeros(5, np.float32), "few"),
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions)
    path.write_bytes(model.SerializeToString())
    return f"onnx:{path}"


def noise(seeded=False):
    """Return a node that adds unpredictable numbers."""
    return helper.make_node("RandomNormalLike", ["sums"], ["noise"], seed=3.0 if seeded else None)


def noise_in_a_branch():
    output = helper.make_tensor_value_info("noise", TensorProto.FLOAT, None)
    inner = helper.make_graph([noise()], "inner", [], [output])
    return helper.make_node("If", ["yes"], ["more"], then_branch=inner, else_branch=inner)


ADDED = helper.make_node("Add", ["sums", "noise"], ["logits"])
SIZES = {"shape": [1, ACTIONS]}
RANDOM = {
    "RandomNormalLike": [noise(), ADDED],
    "RandomNormalLike, seeded": [noise(seeded=True), ADDED],
    "RandomUniformLike": [helper.make_node("RandomUniformLike", ["sums"], ["noise"]), ADDED],
    "RandomNormal": [helper.make_node("RandomNormal", [], ["noise"], **SIZES), ADDED],
    "RandomUniform": [helper.make_node("RandomUniform", [], ["noise"], **SIZES), ADDED],
    "Bernoulli": [
        helper.make_node("Sigmoid", ["sums"], ["odds"]),
        helper.make_node("Bernoulli", ["odds"], ["logits"]),
    ],
    "Multinomial": [
        helper.make_node("Multinomial", ["sums"], ["drawn"], sample_size=1),
        helper.make_node("Cast", ["drawn"], ["noise"], to=TensorProto.FLOAT),
        ADDED,
    ],
    "Dropout": [helper.make_node("Dropout", ["sums", "part", "yes"], ["logits"])],
    "RandomNormalLike, in a branch": [
        noise_in_a_branch(),
        helper.make_node("Add", ["sums", "more"], ["logits"]),
    ],
}


@pytest.mark.parametrize("kind", RANDOM)
def test_random_nodes_are_refused(kind, tmp_path):
    """Regression: games with a fixed seed depended on earlier games and the number of workers."""
    name = network(tmp_path / "mine.onnx", RANDOM[kind])
    node = kind.split(",")[0]
    with pytest.raises(ValueError, match=rf"draws random numbers \({node}\).*model\.eval\(\)"):
        make_player(name, TWO)


def test_random_nodes_in_functions_are_refused(tmp_path):
    opsets = [helper.make_opsetid("", 17)]
    function = helper.make_function("mine", "Quiet", ["sums"], ["noise"], [noise()], opsets)
    quiet = helper.make_node("Quiet", ["sums"], ["noise"], domain="mine")
    name = network(tmp_path / "mine.onnx", [quiet, ADDED], functions=[function])
    with pytest.raises(ValueError, match=r"random numbers \(RandomNormalLike\)"):
        make_player(name, TWO)


def test_dropout_outside_training_changes_nothing(tmp_path):
    dropout = helper.make_node("Dropout", ["sums", "part"], ["logits"])
    player = make_player(network(tmp_path / "mine.onnx", [dropout]), TWO)
    states, seats = tiny.positions(TWO)
    choose_legally(player, TWO, states, seats, np.zeros(seats.size))


def test_a_network_without_outputs_is_refused(tmp_path):
    """Regression: the network raised an IndexError."""
    name = network(tmp_path / "mine.onnx", [], outputs=())
    with pytest.raises(ValueError, match="does not fit this game"):
        make_player(name, TWO)


def test_an_error_of_a_network_names_the_player(tmp_path):
    """Regression: the error was ONNX Runtime's own."""
    nodes = [
        helper.make_node("ReduceSum", ["seen"], ["many"], keepdims=0),
        helper.make_node("Cast", ["many"], ["place"], to=TensorProto.INT64),
        helper.make_node("Add", ["place", "place"], ["twice"]),
        helper.make_node("Gather", ["few", "twice"], ["noise"]),
        ADDED,
    ]
    player = make_player(network(tmp_path / "mine.onnx", nodes), TWO)
    states, seats = tiny.positions(TWO)
    with pytest.raises(ValueError, match=r"mine\.onnx has a network that fails on observations"):
        player.choose(states, seats, np.zeros(seats.size))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sample", ["", ",sample"])
def test_logits_that_are_not_finite_are_refused(number, sample, tmp_path):
    """Regression: no legal action could be drawn, so an illegal one was chosen."""
    path = tmp_path / "mine.onnx"
    weights = numpy_helper.from_array(np.full((SIZE, ACTIONS), number, np.float32))
    path.write_bytes(with_weights(weights, "constant").SerializeToString())
    player = make_player(f"onnx:{path}{sample}", TWO)
    states, seats = tiny.positions(TWO)
    with pytest.raises(ValueError, match="NaN or infinite logits for legal actions"):
        player.choose(states, seats, np.zeros(seats.size))
