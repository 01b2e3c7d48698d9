"""Functions written for all games are compiled for each game, unless they use no verbs."""

import pytest

from armarl.core import batch_loops
from armarl.games.make_game import make_game
from armarl_training.learning.advantages import look_back

ONE, OTHER = make_game("armadora"), make_game("armada")


@pytest.mark.parametrize("body", [batch_loops.seed_stream, batch_loops.pick_action, look_back])
def test_a_function_without_verbs_is_compiled_once_for_all_games(body):
    assert ONE._binding.driver(body) is OTHER._binding.driver(body)
    assert ONE.compiled(body) is OTHER.compiled(body)


@pytest.mark.parametrize(
    "body", [batch_loops.start, batch_loops.take_turn, batch_loops.read_status]
)
def test_a_function_with_verbs_in_it_or_in_a_callee_is_compiled_for_each_game(body):
    assert ONE._binding.driver(body) is not OTHER._binding.driver(body)
    assert ONE._binding.driver(body) is ONE._binding.driver(body)
    assert ONE.compiled(body) is not OTHER.compiled(body)


def test_a_callee_with_verbs_makes_its_caller_depend_on_the_game():
    assert "verbs" not in batch_loops.deal_with.__code__.co_names
    assert ONE.compiled(batch_loops.deal_with) is not OTHER.compiled(batch_loops.deal_with)
