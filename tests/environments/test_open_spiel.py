"""Our games in OpenSpiel are the same games, and OpenSpiel's algorithms run on them."""

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    external_sampling_mccfr,
    ismcts,
    mcts,
    outcome_sampling_mccfr,
    tabular_qlearner,
)

from armarl.environments.open_spiel import Resampler, register  # noqa: E402
from armarl.games.make_game import make_game  # noqa: E402
from variants import every_game, every_rich_game, every_variant  # noqa: E402


def load(variant, **more):
    return register(variant.game, **variant.options, **more)


def dealt(game):
    state = game.new_initial_state()
    state.apply_action(0)
    return state


def play(state, rng, most=10**9):
    played = 0
    while not state.is_terminal() and played < most:
        state.apply_action(int(rng.choice(state.legal_actions())))
        played += 1
    return state


@every_variant
def test_openspiel_plays_the_same_game(variant):
    ours, theirs = variant.make(), load(variant, seed=7)
    assert theirs.num_players() == ours.players
    assert theirs.num_distinct_actions() == len(ours.actions)
    assert theirs.observation_tensor_shape() == [ours.observation.size]
    state, rng, one = dealt(theirs), np.random.default_rng(0), np.zeros(1, np.int64)
    states = ours.new_states(int(np.random.default_rng(7).integers(2**62)))
    while not state.is_terminal():
        seat = int(ours.statuses(states)[1][0])
        observation, mask = ours.views(states, np.array([seat]))
        assert state.current_player() == seat
        assert state.legal_actions() == np.flatnonzero(mask[0]).tolist()
        assert state.observation_tensor(seat) == observation[0].tolist()
        action = int(rng.choice(state.legal_actions()))
        assert state.action_to_string(seat, action) == ours.actions.text(action)
        state.apply_action(action)
        ours.apply(states, one, np.array([action]))
    assert ours.statuses(states)[0][0]
    assert state.returns() == ours.returns(states, one)[0].tolist()
    assert str(state) == ours.draw(states[0])


def moves_of(state):
    return [(move.player, move.action) for move in state.full_history()]


@every_rich_game
def test_states_can_be_copied_and_saved(variant):
    game, rng = load(variant), np.random.default_rng(1)
    for moment in (game.new_initial_state(), play(dealt(game), rng, most=variant.midgame)):
        read = game.deserialize_state(moment.serialize())
        for twin in (moment.clone(), read):
            assert twin.history() == moment.history()
            assert moves_of(twin) == moves_of(moment)
            assert twin.serialize() == moment.serialize()
            assert str(twin) == str(moment)
    twins = [moment, moment.clone(), read]
    ends = [play(twin, np.random.default_rng(2), most=30) for twin in twins]
    assert len({end.serialize() for end in ends}) == 1
    damaged = moment.serialize().split("\n")
    damaged[0] = damaged[0][:-2]
    with pytest.raises(ValueError, match="not a state of"):
        game.deserialize_state("\n".join(damaged))


@every_rich_game
def test_resampling_keeps_the_knowledge_of_the_player(variant):
    game, rng = load(variant), np.random.default_rng(3)
    state = play(dealt(game), rng, most=variant.midgame)
    seat, others, resampler = state.current_player(), set(), Resampler(seed=0)
    for _ in range(20):
        for world in (resampler(state, seat), state.resample_from_infostate(seat, rng.random)):
            assert world.current_player() == seat
            assert world.information_state_string(seat) == state.information_state_string(seat)
            assert world.observation_string(seat) == state.observation_string(seat)
            assert world.legal_actions() == state.legal_actions()
            assert world.history() == state.history()
            others.add(world.information_state_string((seat + 1) % 3))
    assert len(others) > 1
    # The player's knowledge does not reveal the information state of another player.
    assert state.information_state_string((seat + 1) % 3) not in others
    assert state.resampled(seat, 5).serialize() == state.resampled(seat, 5).serialize()
    for drawn in (1.0, -0.5, np.nan):
        with pytest.raises(ValueError, match=r"the sampler must return a number in \[0, 1\), not"):
            state.resample_from_infostate(seat, lambda drawn=drawn: drawn)


@every_game
def test_information_states_are_equal_if_a_seat_was_shown_the_same(variant):
    """Only deals that a seat cannot tell apart have the same information state."""
    game = load(variant)
    one = dealt(game)
    other = one.resampled(0, 1)
    assert one.information_state_string(0) == other.information_state_string(0)
    action = one.legal_actions()[0]
    for state in (one, other):
        state.apply_action(action)
    assert one.information_state_string(0) == other.information_state_string(0)
    elsewhere = dealt(game)
    elsewhere.apply_action(elsewhere.legal_actions()[1])
    assert elsewhere.information_state_string(0) != one.information_state_string(0)


@pytest.mark.filterwarnings("ignore")
def test_openspiel_s_algorithms_run():
    game = register("armadora", board="mini")
    state = dealt(game)
    rollouts = mcts.RandomRolloutEvaluator(1, np.random.RandomState(0))
    search = ismcts.ISMCTSBot(game, rollouts, 1.4, 30, random_state=np.random.RandomState(0))
    assert search.step(state) in state.legal_actions()
    search.set_resampler(Resampler(1))
    assert search.step(state) in state.legal_actions()
    assert mcts.MCTSBot(game, 1.4, 20, rollouts).step(state) in state.legal_actions()
    sampling = outcome_sampling_mccfr.OutcomeSamplingSolver(game)
    for _ in range(10):
        sampling.iteration()
    policy = sampling.average_policy().action_probabilities(state)
    assert sum(policy.values()) == pytest.approx(1)
    bots = [pyspiel.make_uniform_random_bot(seat, seat) for seat in (0, 1)]
    assert sum(pyspiel.evaluate_bots(game.new_initial_state(), bots, 0)) == 0


def test_reinforcement_learning_runs():
    env = rl_environment.Environment(
        register("armadora", players=3),
        observation_type=rl_environment.ObservationType.OBSERVATION,
    )
    agents = [
        tabular_qlearner.QLearner(seat, env.action_spec()["num_actions"]) for seat in range(3)
    ]
    for _ in range(2):
        step = env.reset()
        while not step.last():
            seat = step.observations["current_player"]
            step = env.step([agents[seat].step(step).action])
        for agent in agents:
            agent.step(step)
    assert len(step.rewards) == 3


def test_chance_can_be_explicit():
    from kuhn_poker import ENTRY

    game = register(ENTRY.name, chance="explicit")
    state = game.new_initial_state()
    assert [chance for _, chance in state.chance_outcomes()] == pytest.approx([1 / 6] * 6)
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    solver.iteration()
    assert str(pyspiel.load_game("armarl_kuhn_poker_explicit", {"players": 2})) == str(game)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"players": 9}, ValueError, "2, 3 or 4 players, not 9"),
        ({"colours": 9}, TypeError, "armadora has no option 'colours'"),
        ({"chance": "none"}, ValueError, "chance must be 'sampled' or 'explicit', not 'none'"),
        ({"chance": "explicit"}, ValueError, "cannot be enumerated"),
    ],
)
def test_wrong_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        register("armadora", **options)


def test_the_name_of_a_variant_loads_it_again():
    game = register("armadora", players=3, advanced=True)
    again = pyspiel.load_game(str(game))
    assert again.game.variant == make_game("armadora", players=3, advanced=True).variant


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda record, known, history: "", "three lines"),
        (lambda record, known, history: f"{record}\n{known}", "three lines"),
        (lambda record, known, history: f"xy\n{known}\n{history}", "three lines"),
        (lambda record, known, history: f"{record}\n{known}\n{'9' * 5000}", "three lines"),
        (lambda record, known, history: f"{record}\n{known[:-2]}\n{history}", "bytes per seat"),
        (lambda record, known, history: f"{record}\n00 00\n{history}", "bytes per seat"),
        (lambda record, known, history: f"\n{known}\n{history}", "bytes per seat"),
        (
            lambda record, known, history: f"\n\n{history}",
            "line 3 of the text must contain the deal",
        ),
        (
            lambda record, known, history: f"{record}\n{known}\n",
            "line 3 of the text must contain the deal",
        ),
        (
            lambda record, known, history: f"{record}\n{known}\n{history} 0:-1",
            "line 3 of the text must contain the deal",
        ),
        (
            lambda record, known, history: f"{record}\n{known}\n{history} 0:{2**70}",
            "line 3 of the text must contain the deal",
        ),
        (
            lambda record, known, history: f"{record}\n{known}\n{history} 2:0",
            "seats in line 3 of the text must be",
        ),
        (
            lambda record, known, history: f"{record}\n{known}\n{history} -1:0",
            "line 3 of the text must contain the deal",
        ),
        (lambda record, known, history: f"{record}\n{known}\n{history} 1", "three lines"),
        (
            lambda record, known, history: f"{record[:-2]}\n{known}\n{history}",
            "line 1 of the text must have",
        ),
    ],
)
def test_damaged_states_are_refused(spoil, fault):
    """Regression: some states were accepted and failed later, or raised unrelated errors."""
    game = register("armadora", board="mini")
    state = dealt(game)
    state.apply_action(state.legal_actions()[0])
    text = state.serialize()
    assert game.deserialize_state(text).serialize() == text
    with pytest.raises(ValueError, match=f"not a state of .*: .*{fault}"):
        game.deserialize_state(spoil(*text.split("\n")))


@pytest.mark.parametrize("player", [-4, -1, 4, 99])
def test_players_out_of_range_are_refused(player):
    """Regression: -1 revealed the last seat's information, and 4 raised an IndexError."""
    state = dealt(register("armadora", players=4))
    for asked in (
        state.information_state_string,
        state.observation_string,
        lambda player: state.resampled(player, 1),
    ):
        with pytest.raises(ValueError, match=f"the player must be from 0 to 3, not {player}"):
            asked(player)


def test_a_state_without_a_player_to_move_needs_the_player_s_number():
    """Regression: the call gave the last seat's information, or raised an IndexError."""
    state = register("armadora", players=4).new_initial_state()
    for end in (False, True):
        while end and not state.is_terminal():
            state.apply_action(state.legal_actions()[0])
        for asked in (state.information_state_string, state.observation_string):
            with pytest.raises(ValueError, match="no player to move: name"):
                asked()
    assert state.information_state_string(3)


def test_observations_before_the_deal_are_refused():
    """Regression: these observations raised an AssertionError without a message."""
    state = register("armadora", players=2).new_initial_state()
    for asked in (lambda: state.observation_string(0), lambda: state.resampled(0, 1)):
        with pytest.raises(ValueError, match="nothing has been dealt yet: apply the chance node"):
            asked()


@pytest.mark.parametrize("seed", [-1, 2**31, 2**40])
def test_seeds_that_openspiel_cannot_store_are_refused(seed):
    """Regression: the message was `Unable to cast Python instance`."""
    with pytest.raises(ValueError, match=rf"seed must be from 0 to {2**31 - 1}, not {seed}"):
        register("armadora", seed=seed)


def test_seeds_for_openspiel_must_be_integers_in_range():
    for seed in ("x", 1.5, True, None):
        with pytest.raises(TypeError, match="seed must be an integer"):
            register("armadora", seed=seed)
    game = register("armadora", players=np.int64(3), seed=np.int64(7))
    assert game.num_players() == 3
    state = dealt(game)
    assert state.serialize() == dealt(register("armadora", players=3, seed=7)).serialize()
    for wrong in (-1, 2**63):
        with pytest.raises(ValueError, match="seed must be from 0 to"):
            state.resampled(0, wrong)
    with pytest.raises(ValueError, match="seed must be from 0 to"):
        Resampler(-1)
    with pytest.raises(ValueError, match="seed must be from 0 to"):
        pyspiel.load_game("armarl_armadora(seed=-1)")


@pytest.mark.parametrize("chance", ["sampled", "explicit"])
@pytest.mark.parametrize("outcome", [-2, 2, 10**9])
def test_unknown_outcomes_of_chance_are_refused(chance, outcome):
    """Regression: an outcome out of range left a state without a record."""
    state = register("armadora", board="mini", chance=chance).new_initial_state()
    if outcome in dict(state.chance_outcomes()):
        return
    with pytest.raises(ValueError, match="the chance node has no outcome"):
        state.apply_action(outcome)
    assert state.is_chance_node()
    assert state.history() == []
    state.apply_action(0)
    assert state.current_player() == 0


@pytest.mark.parametrize("text", [None, 5, b"", ["a"]])
def test_serialised_states_must_be_text(text):
    """Regression: None raised an AttributeError about `split`."""
    with pytest.raises(TypeError, match="a serialised state must be text"):
        register("armadora", board="mini").deserialize_state(text)


def test_an_error_during_an_action_leaves_the_state_unchanged(monkeypatch):
    state = dealt(register("armadora", board="mini"))
    before, show = state.serialize(), type(state)._show

    def fail(self, seat, action):
        if seat == 1:
            raise KeyboardInterrupt
        show(self, seat, action)

    with monkeypatch.context() as patch:
        patch.setattr(type(state), "_show", fail)
        with pytest.raises(KeyboardInterrupt):
            state.apply_action(state.legal_actions()[0])
    assert state.serialize() == before
    state.apply_action(state.legal_actions()[0])
