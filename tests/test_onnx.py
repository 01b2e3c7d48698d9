"""Players from ONNX files: they play what the network says, and what does not fit is refused."""

import pickle

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tiny
from armarl.game import make_game
from armarl.matches import play_match
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
    with pytest.raises(ValueError, match="is no ONNX file"):
        make_player(f"onnx:{path}", TWO)
