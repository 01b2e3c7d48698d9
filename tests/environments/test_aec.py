"""The PettingZoo API: PettingZoo's checkers, the environment's behaviour, and error messages."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest
import torch
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv
from pettingzoo.test import api_test, seed_test, state_test, test_save_obs
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import (
    OrderEnforcingWrapper,
)

from aec_play import everything, is_over, play_randomly, random_action, some_illegal_action
from armarl import CheckedAECEnv, RawAECEnv, armada_v0, armadora_v0
from armarl.core.errors import IllegalActionError
from armarl.games.armada.chart.loading import Chart, ChartError, load_chart
from armarl.players.simple_players import GreedyPlayer
from armarl.roster.make_player import make_player
from variants import every_game, every_rich_game, every_variant

test_save_obs.__test__ = False  # this is PettingZoo's checker and not a test of ours

# `api_test` allows Dict observations only for environments that it knows by name. It also reports
# empty masks of agents whose turn it is not, although PettingZoo's own games have these masks too.
UNAVOIDABLE = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be",
    "Action mask numpy array is all zeros",
)


every_face = pytest.mark.parametrize("face", ["env", "raw_env"])


# --- PettingZoo's checkers -----------------------------------------------------------------------


@every_face
@every_variant
def test_pettingzoo_s_checkers_pass(variant, face, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # test_save_obs would write pictures to the current folder
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(variant.aec(face), num_cycles=100)
    unexpected = [str(w.message) for w in caught if not str(w.message).startswith(UNAVOIDABLE)]
    assert not unexpected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seed_test(lambda: variant.aec(face), num_cycles=100)
        test_save_obs(variant.aec(face))
    assert "Passed API test" in capsys.readouterr().out


@every_variant
def test_pettingzoo_s_checker_of_states_passes(variant):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state_test(variant.aec(), turn_based_aec_to_parallel(variant.aec()))


# --- behaviour ----------------------------------------------------------------------------------


@every_face
@every_rich_game
def test_spaces_are_one_object_for_all_agents(variant, face):
    env = variant.aec(face)
    assert isinstance(env, AECEnv)
    assert env.unwrapped is env
    assert env.metadata == {
        "name": f"{variant.game}_v0",
        "render_modes": ["human", "ansi", "rgb_array"],
        "render_fps": 4,
        "is_parallelizable": False,
    }
    assert str(env) == f"{variant.game}_v0"
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert len({id(env.observation_space(agent)) for agent in env.possible_agents}) == 1
    assert len({id(env.action_space(agent)) for agent in env.possible_agents}) == 1
    space = env.observation_space("player_0")
    low, high = env.game.observation.bounds()
    assert np.array_equal(space["observation"].low, low)
    assert np.array_equal(space["observation"].high, high)
    assert space["observation"].dtype == np.float32
    assert space["action_mask"].dtype == np.int8
    assert env.action_space("player_0").n == len(env.game.actions)


@every_face
@every_variant
def test_a_whole_game(variant, face):
    env, rng = variant.aec(face), np.random.default_rng(1)
    env.reset(seed=5)
    mover, several_in_a_row = None, False
    while not is_over(env):
        assert env.agents == env.possible_agents
        for agent in env.possible_agents:
            first, second = env.observe(agent), env.observe(agent)
            assert env.observation_space(agent).contains(first)
            assert first["action_mask"].any() == (agent == env.agent_selection)
            for name in first:
                assert not np.shares_memory(first[name], second[name])
        assert set(env.rewards.values()) == set(env._cumulative_rewards.values()) == {0.0}
        assert env.infos == {agent: {} for agent in env.possible_agents}
        several_in_a_row |= env.agent_selection == mover
        mover = env.agent_selection
        assert env.possible_agents[env.describe()["to_move"]] == mover
        assert env.step(random_action(env, rng)) is None
    assert several_in_a_row or not variant.long_turns
    result, cut_short = env.describe()["result"], variant.game == "armada"
    assert result.get("truncated", False) == cut_short
    assert all(env.terminations.values())  # `max_turns` is a rule, and gives returns of 0
    assert not any(env.truncations.values())
    assert env.rewards == env._cumulative_rewards
    assert abs(sum(env.rewards.values())) < 1e-9
    assert any(env.rewards.values()) or cut_short or len(result["winners"]) > 1
    for seat, agent in enumerate(env.possible_agents):
        won = env.game.sides[seat] in result["winners"]
        assert won or cut_short or env.rewards[agent] < 0
    expected = dict(env.rewards)
    for agent in env.possible_agents:  # the agents leave one by one, in seat order
        assert env.agent_selection == agent
        observation, reward, terminated, truncated, info = env.last()
        assert (reward, info) == (expected[agent], {})
        assert (terminated, truncated) == (True, False)
        assert not observation["action_mask"].any()
        env.step(None)
    assert env.agents == []
    for agent in env.possible_agents:
        assert env.observation_space(agent).contains(env.observe(agent))


def test_the_reward_can_be_gold():
    env, rng = armadora_v0.env(reward="gold"), np.random.default_rng(0)
    env.reset(seed=0)
    play_randomly(env, rng)
    first, second = env.describe()["result"]["gold"]
    assert env.rewards["player_0"] == pytest.approx((first - second) / 40)
    assert env.rewards["player_1"] == pytest.approx((second - first) / 40)


def test_a_game_of_armada_can_be_won():
    """Random play stops at `max_turns`. Scripted players play until one of them has won."""
    env, rng = armada_v0.env(players=3), np.random.default_rng(0)
    player = GreedyPlayer(env.game)
    env.reset(seed=0)
    while not is_over(env):
        seat = np.array([env.possible_agents.index(env.agent_selection)])
        seen = env.game.concealed(env._states, seat)
        env.step(player.choose(seen, seat, rng.random(1))[0])
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    (winner,) = env.describe()["result"]["winners"]
    assert env.rewards == {a: 1.0 if s == winner else -0.5 for s, a in enumerate(env.agents)}
    loaded = armada_v0.env(players=3)
    loaded.load_state(env.state_bytes())
    assert everything(loaded) == everything(env)


@every_face
@every_rich_game
def test_a_seed_makes_games_reproducible(variant, face):
    first, second = variant.aec(face), variant.aec(face)
    first.reset(seed=7)
    second.reset(seed=7)
    assert first.state_bytes() == second.state_bytes()
    first.reset()
    second.reset()  # continues with the random number generator of the game
    assert first.state_bytes() == second.state_bytes()
    second.reset(seed=8)
    assert first.state_bytes() != second.state_bytes()
    fresh, other = variant.aec(face), variant.aec(face)
    fresh.reset()
    other.reset()
    # Each environment took its own seed from the system.
    assert fresh.state_bytes() != other.state_bytes()


@every_rich_game
def test_an_environment_deals_as_the_game_does(variant):
    env = variant.aec()
    env.reset(seed=-3)
    assert env._states.tobytes() == variant.make().new_states(-3).tobytes()


@every_face
@every_variant
def test_a_copy_in_mid_game_continues_alike(variant, face):
    env, rng = variant.aec(face), np.random.default_rng(2)
    env.reset(seed=3)
    play_randomly(env, rng, most=variant.midgame)
    loaded = variant.aec(face)
    loaded.load_state(env.state_bytes())
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), loaded]
    before = everything(env)
    actions = play_randomly(env, rng)
    after = everything(env)
    env.reset()
    next_game = everything(env)
    for twin in copies:
        assert everything(twin) == before
        for action in actions:
            twin.step(action)
        assert everything(twin) == after
        twin.reset()
        assert everything(twin) == next_game


@every_face
@every_rich_game
def test_a_finished_game_can_be_loaded(variant, face):
    env, loaded = variant.aec(face), variant.aec(face)
    env.reset(seed=4)
    play_randomly(env, np.random.default_rng(4))
    loaded.load_state(env.state_bytes())
    assert everything(loaded) == everything(env)


@every_face
def test_a_step_after_all_agents_have_left_is_an_error(face):
    env = getattr(armadora_v0, face)(players=2)
    env.reset(seed=0)
    play_randomly(env, np.random.default_rng(0))
    for _ in env.agents[:]:
        env.step(None)
    assert not env.agents
    if face == "raw_env":
        with pytest.raises(ResetNeeded, match="all agents have left"):
            env.step(None)
    else:
        env.step(None)  # PettingZoo's wrappers also only log this
    env.reset(seed=0)
    assert env.agents


@every_game
def test_foreign_and_damaged_states_are_refused(variant):
    env = variant.aec()
    env.reset(seed=0)
    data = env.state_bytes()
    with pytest.raises(ValueError, match=r'"players": 2.*"players": 3'):
        variant.aec(players=3).load_state(data)
    with pytest.raises(ValueError, match="damaged saved game, or saved by another version"):
        env.load_state(data[:-10])
    flipped = bytearray(data)
    flipped[-20] ^= 1
    with pytest.raises(ValueError, match="damaged saved game"):
        env.load_state(bytes(flipped))
    with pytest.raises(ValueError, match="not a saved game"):
        env.load_state(b"")
    assert env.state_bytes() == data


@every_face
@every_rich_game
def test_text_for_people_shows_what_a_seat_knows(variant, face):
    env = variant.aec(face, render_mode="ansi")
    env.reset(seed=0)
    play_randomly(env, np.random.default_rng(0), most=min(10, variant.midgame))
    text = env.describe()["legal"][0]
    assert env.action_text(env.action_id(text)) == text
    env.step(env.action_id(text))
    for seat in (None, 0, 1, 2):
        assert env.describe(seat) == env.game.describe(env._states[0], seat)
    hands = "cards" if variant.game == "kuhn_poker" else "hands"
    assert env.describe(0)[hands][0] is not None
    assert env.describe(0)[hands][1] is None
    assert env.render() == env.game.draw(env._states[0], None)
    silent = variant.aec(face)
    silent.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert silent.render() is None


@every_face
def test_a_placed_warrior_is_hidden(face):
    env = getattr(armadora_v0, face)(render_mode="ansi")
    env.reset(seed=0)
    env.step(env.action_id("W1 a1"))
    assert env.describe()["warriors"]["a1"]["value"] == 1
    assert env.describe(0)["warriors"]["a1"]["value"] == 1
    assert env.describe(1)["warriors"]["a1"]["value"] is None
    assert "A1" in env.render()


@every_face
def test_the_chart_of_an_environment_is_an_attribute(face):
    """A user can make a graph of the chart's places, even through PettingZoo's wrappers."""
    env = OrderEnforcingWrapper(getattr(armada_v0, face)())
    chart = env.unwrapped.chart
    assert isinstance(chart, Chart)
    again = getattr(armada_v0, face)(chart=chart.as_dict())
    assert again.chart.as_dict() == chart.as_dict() == load_chart().as_dict()
    assert again.game.observation.hash == env.unwrapped.game.observation.hash
    assert not hasattr(armadora_v0.env(), "chart")


def test_the_attribute_is_the_chart_of_the_game():
    renamed = json.loads(json.dumps(load_chart().as_dict()).replace('"s1"', '"bay"'))
    env, standard = armada_v0.env(chart=renamed), armada_v0.env()
    for each in (env, standard):
        each.reset(seed=0)
    assert "bay" in env.chart.places
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.chart.as_dict() == renamed
        assert everything(twin) == everything(env)
    assert env.game.actions.hash != standard.game.actions.hash
    with pytest.raises(ValueError, match="not a saved game of this environment"):
        env.load_state(standard.state_bytes())


# --- errors that a new user meets ----------------------------------------------------------------


@every_face
@every_game
def test_wrong_options_are_refused(variant, face):
    with pytest.raises(TypeError, match=r"keyword argument 'player'.*players.*reward, render_mode"):
        variant.aec(face, player=2)
    with pytest.raises(ValueError, match="2, 3 or 4 players, not 5"):
        variant.aec(face, players=5)
    with pytest.raises(ValueError, match=r"reward must be 'win'.*, not 'points'"):
        variant.aec(face, reward="points")
    with pytest.raises(
        TypeError, match="render_mode must be None or 'human' or 'ansi' or 'rgb_array', not"
    ):
        variant.aec(face, render_mode="svg")
    env = variant.aec(face)
    with pytest.raises(ValueError, match="seed must be -2"):
        env.reset(seed=-(2**64))
    with pytest.raises(AttributeError, match="before reset"):  # before the first reset
        _ = env.agents


BROKEN_CHARTS = {
    "a lair of six territories": (
        lambda chart: chart["territories"].pop(0),
        r"the green lair has 6 territories .*; it must have 7 \(ADA-1\)",
    ),
    "an isle joined to land": (
        lambda chart: chart["borders"].append(["C23", "C11"]),
        r"a land border joins C11 .* to C23 .*; no land border joins two islands \(ADA-4\)",
    ),
    "an unknown name": (
        lambda chart: chart["borders"].append(["C23", "Tortuga"]),
        r"border C23 Tortuga: unknown place 'Tortuga'",
    ),
}


@every_face
@pytest.mark.parametrize("case", BROKEN_CHARTS)
def test_a_broken_chart_is_refused(case, face):
    break_it, message = BROKEN_CHARTS[case]
    chart = load_chart().as_dict()
    break_it(chart)
    with pytest.raises(ChartError, match=message):
        getattr(armada_v0, face)(chart=chart)


@every_face
def test_the_lair_farthest_from_the_neutral_one_depends_on_the_chart(face):
    """Regression (ADA-12): on every chart, it was the lair of the colour opposite in play order."""
    other, chart = {"raspberry": "blue", "blue": "raspberry"}, load_chart().as_dict()
    for territory in chart["territories"]:
        territory["lair"] = other.get(territory["lair"], territory["lair"])
    env = getattr(armada_v0, face)(players=3, chart=chart)
    found = {}
    for seed in range(20):
        env.reset(seed=seed)
        neutral, most = env.describe()["neutral"], {}
        while env.describe()["turn"]["stage"] == "preliminary":
            view = env.describe()
            if view["legal"][0].startswith("count"):
                counts = [int(text.split()[1]) for text in view["legal"]]
                colour = view["turn"]["colour"]
                most[colour] = max(*counts, most.get(colour, 0))
            mask = env.observe(env.agent_selection)["action_mask"]
            env.step(int(np.flatnonzero(mask)[-1]))
        found[neutral] = max(most, key=most.get)
        assert sorted(most.values()) == [15, 15, 20]
    assert found == {"green": "raspberry", "raspberry": "green", "blue": "orange", "orange": "blue"}


@every_face
@pytest.mark.parametrize(
    ("grow", "said"),
    [
        (20, "the chart has 68 sea squares; at most 64 are allowed"),
        (0, "the chart has 381 borders; at most 380 are allowed"),
    ],
)
def test_a_chart_that_is_too_large_is_refused(face, grow, said):
    chart = load_chart().as_dict()
    deep = [f"deep{i}" for i in range(grow)]
    pairs = [[square, "s1"] for square in deep]
    known = {frozenset(border) for border in chart["borders"]}
    more = [[a, b] for a in chart["sea"] for b in chart["sea"] if a < b and {a, b} not in known]
    chart["borders"] += pairs or more[: 381 - len(chart["borders"])]
    chart["sea"] += deep
    with pytest.raises(ChartError, match=said):
        load_chart(chart)
    with pytest.raises(ChartError, match=said):
        getattr(armada_v0, face)(chart=chart)


def test_an_object_that_is_not_a_chart_is_refused():
    with pytest.raises(
        ChartError, match="a chart must be a path, the text of a chart file or a mapping, not 5"
    ):
        armada_v0.env(chart=5)
    with pytest.raises(FileNotFoundError, match=r"no-such\.txt"):
        armada_v0.env(chart="no-such.txt")


@pytest.mark.parametrize("max_turns", [0, -1, 2.5, True, None, 10**7])
def test_a_wrong_number_of_turns_is_refused(max_turns):
    with pytest.raises(ValueError, match="max_turns must be a whole number from 1 to"):
        armada_v0.env(max_turns=max_turns)


@every_game
def test_a_raw_environment_raises_errors(variant):
    env = variant.aec("raw_env")
    with pytest.raises(AttributeError, match="agent_selection cannot be accessed before reset"):
        env.step(0)
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        env.observe("player_0")
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        env.describe()
    env.reset(seed=0)
    before = everything(env)
    refused, rule = variant.first_refusal
    with pytest.raises(IllegalActionError, match=f"`{refused}` is illegal: .*{rule}"):
        env.step(env.action_id(refused))
    with pytest.raises(IllegalActionError, match="no action 9999: ids run from 0"):
        env.step(9999)
    for nonsense in (None, 1.0, "pass", np.array([3])):
        with pytest.raises(TypeError):
            env.step(nonsense)
    assert everything(env) == before


@pytest.mark.parametrize("face", [RawAECEnv, CheckedAECEnv])
def test_a_name_in_place_of_a_game_is_refused(face):
    """Regression: the error was about an attribute that text does not have."""
    with pytest.raises(TypeError, match=r"game must be a Game, .* not 'armadora'"):
        face("armadora")


@every_face
def test_an_unknown_agent_is_refused(face):
    env = getattr(armadora_v0, face)(players=3)
    env.reset(seed=1)
    for ask in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(KeyError, match="unknown agent 'player_3'; choose from player_0"):
            ask("player_3")
        with pytest.raises(TypeError, match=r"an agent must be one of player_0, .*, not \[\]"):
            ask([])
    assert copy.deepcopy(env).action_space("player_2") == env.action_space("player_2")


@every_face
def test_integers_of_every_type_are_actions(face):
    """Regression: `env()` refused torch's integers as outside the space."""
    env = getattr(armadora_v0, face)()
    for action in (np.array(3), np.uint8(3), torch.tensor(3)):
        env.reset(seed=1)
        env.step(action)
        assert env.agent_selection == "player_1"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        *((text, "an action must be an integer, not ") for text in (3.0, "3", True, None)),
        (np.array([3]), "an action must be an integer, not array"),
        (-1, "-1 is not in 0 to "),
        (10**6, "1000000 is not in 0 to "),
        (10**5000, "9223372036854775807 is not in 0 to "),
    ],
    ids=lambda value: str(value)[:30] if not isinstance(value, int) or value < 2**70 else "huge",
)
def test_a_value_that_is_not_an_action_ends_no_game(wrong, reason):
    env = armadora_v0.env()
    env.reset(seed=1)
    with pytest.raises(AssertionError, match=f"^action is not in action space: {reason}"):
        env.step(wrong)
    assert not any(env.terminations.values())


def test_an_action_that_costs_more_coups_than_remain_is_illegal():
    env, rng = armada_v0.raw_env(cards=True), np.random.default_rng(0)
    env.reset(seed=0)
    while (turn := env.describe()["turn"])["stage"] != "order" or turn["coups"] != 1:
        env.step(random_action(env, rng))
    before = everything(env)
    with pytest.raises(IllegalActionError, match=r"it costs 2 coups, but 1 is left \(ADA-15\)"):
        env.step(env.action_id("buy"))
    assert everything(env) == before


@every_game
def test_an_illegal_action_is_explained(variant, caplog):
    env = variant.aec()
    env.reset(seed=0)
    action = some_illegal_action(env)
    env.step(action)
    assert "Illegal move made" in caplog.messages[0]
    assert caplog.messages[1].startswith(f"`{env.action_text(action)}` is illegal: ")
    assert env.rewards == {"player_0": -1.0, "player_1": 0.0}


# --- players that use an environment -------------------------------------------------------------


@every_face
@every_variant
def test_a_player_can_choose_from_the_concealed_state(variant, face):
    env, rng = variant.aec(face), np.random.default_rng(0)
    player = make_player("greedy", env.game)
    env.reset(seed=3)
    for _ in range(40):
        if is_over(env):
            break
        seat = env.possible_agents.index(env.agent_selection)
        before = env.state_bytes()
        states = env.concealed_state()
        (action,) = player.choose(states, np.array([seat]), rng.random(1))
        assert states.shape == (1,)
        states[:] = np.zeros(1, states.dtype)  # a copy, so a player may write to it
        assert env.state_bytes() == before
        env.step(action)


@every_rich_game
def test_the_concealed_state_reveals_no_secrets(variant):
    env = variant.aec("raw_env")
    env.reset(seed=5)
    play_randomly(env, np.random.default_rng(1), 12)
    other = copy.deepcopy(env)
    for seat, agent in enumerate(env.possible_agents):
        other._states = env.game.determinised(env._states, np.array([seat]), np.array([9]))
        assert other.state_bytes() != env.state_bytes()
        assert other.concealed_state(agent).tobytes() == env.concealed_state(agent).tobytes()


@every_face
def test_an_error_explains_why_there_is_no_concealed_state(face):
    env = getattr(armadora_v0, face)()
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        env.concealed_state()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="unknown agent 'player_7'; choose from player_0"):
        env.concealed_state("player_7")
