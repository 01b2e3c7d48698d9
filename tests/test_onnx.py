"""Players from ONNX files: they play what the network says, and what does not fit is refused."""

import pickle

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tiny
from armarl.game import make_game
from armarl.matches import play_match
from armarl.onnx_parts import reads_other_files
from armarl.players import choose_legally, make_player
from variants import every_game

TWO = make_game("armadora")


def save(path, size, actions, batch="batch", kind=TensorProto.FLOAT):
    """A linear network with random weights in a file; the weights."""
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
def test_it_plays_what_the_network_says(variant, tmp_path):
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


def test_it_draws_by_the_logits(tmp_path):
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


def test_a_match_with_it_in_worker_processes(tmp_path):
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
def test_what_does_not_fit_is_refused(wrong, tmp_path):
    path = tmp_path / "wrong.onnx"
    save(path, **wrong)
    with pytest.raises(ValueError, match=rf"takes one input of float32 \(batch, {SIZE}\)"):
        make_player(f"onnx:{path}", TWO)


def test_what_is_no_onnx_file(tmp_path):
    path = tmp_path / "mine.onnx"
    path.write_bytes(b"\x00garbage" * 100)
    with pytest.raises(ValueError, match="is no ONNX file"):
        make_player(f"onnx:{path}", TWO)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        make_player(f"onnx:{tmp_path}/none.onnx", TWO)


def test_it_leads_to_no_other_file(tmp_path):
    """Weights may lie beside a file of ONNX, wherever it says: here they must be in it."""
    path = tmp_path / "mine.onnx"
    save(path, SIZE, ACTIONS)
    model = onnx.load(path)
    onnx.save(model, path, save_as_external_data=True, location="beside", size_threshold=0)
    assert (tmp_path / "beside").stat().st_size == SIZE * ACTIONS * 4
    with pytest.raises(ValueError, match=r"has weights in another file.*external_data=False"):
        make_player(f"onnx:{path}", TWO)


def outside(place):
    """Weights at a path relative to where the process works, as ONNX Runtime finds them."""
    tensor = TensorProto(name="weights", data_type=TensorProto.FLOAT, dims=[SIZE, ACTIONS])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=place)
    return tensor


def branch(weights):
    """A graph in a node, with the weights in it."""
    output = helper.make_tensor_value_info("w", TensorProto.FLOAT, None)
    return helper.make_graph([], "branch", [], [output], [weights])


def with_weights(weights, where):
    """The linear network whose weights stand in another place of the file."""
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
def test_nor_does_any_part_of_it(where, tmp_path, monkeypatch):
    """A file was read that lay where the process worked."""
    monkeypatch.chdir(tmp_path)
    np.ones((SIZE, ACTIONS), np.float32).tofile("secret")
    path = tmp_path / "mine.onnx"
    path.write_bytes(with_weights(outside("secret"), where).SerializeToString())
    with pytest.raises(ValueError, match="has weights in another file"):
        make_player(f"onnx:{path}", TWO)


def test_weights_in_other_places_of_the_file(tmp_path):
    weights = numpy_helper.from_array(np.ones((SIZE, ACTIONS), np.float32))
    path = tmp_path / "mine.onnx"
    path.write_bytes(with_weights(weights, "constant").SerializeToString())
    states, seats = tiny.positions(TWO)
    player = make_player(f"onnx:{path}", TWO)
    choose_legally(player, TWO, states, seats, np.zeros(seats.size))


@pytest.mark.parametrize("content", [b"\x3a\xff", b"\xff" * 11, b"\x3b", b"\x10\x01" * 10**6])
def test_what_is_no_message(content):
    with pytest.raises(ValueError, match=r"damaged|cut|parts"):
        reads_other_files(content)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sample", ["", ",sample"])
def test_logits_that_are_not_finite(number, sample, tmp_path):
    """Of what is legal nothing could be drawn, and an illegal action was chosen."""
    path = tmp_path / "mine.onnx"
    weights = numpy_helper.from_array(np.full((SIZE, ACTIONS), number, np.float32))
    path.write_bytes(with_weights(weights, "constant").SerializeToString())
    player = make_player(f"onnx:{path}{sample}", TWO)
    states, seats = tiny.positions(TWO)
    with pytest.raises(ValueError, match="logits of legal actions that are not finite"):
        player.choose(states, seats, np.zeros(seats.size))
