"""The Gymnasium API: the checkers of Gymnasium and SB3, behaviour, and the seat's view."""

import copy
import itertools
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
import stable_baselines3.common.env_checker as sb3
from gymnasium.utils.env_checker import check_env, data_equivalence
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import DummyVecEnv

from armarl.armadora_v0 import env as armadora_env
from armarl.core.errors import IllegalActionError
from armarl.environments.seat_env import SeatEnv
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.armada.chart.loading import Chart, ChartError, load_chart
from armarl.games.make_game import make_game
from armarl.roster.make_player import make_player
from armarl_training.vec_env import make_vec_env
from variants import every_game, every_rich_game, every_variant


class Scripted:
    """A player that calls a function of (state, seat, draw)."""

    def __init__(self, act, name="scripted"):
        self.act, self.name = act, name

    def choose(self, states, seats, draws):
        assert len(states) == len(seats) == len(draws) == 1
        return np.array([self.act(states[0], int(seats[0]), float(draws[0]))])


def passes(game):
    """Return a player that passes whenever it may, and otherwise plays the first legal action."""
    pass_id = game.actions.id("pass")

    def act(state, _seat, _draw):
        mask = game.legal_masks(np.full(1, state))[0]
        return pass_id if mask[pass_id] else int(np.flatnonzero(mask)[0])

    return Scripted(act, "passes")


def random_action(env, rng):
    return int(rng.choice(np.flatnonzero(env.action_masks())))


def episode(env, rng, **reset):
    """Play random legal actions for an episode. Return all results, and the actions."""
    given, actions = [env.reset(**reset)], []
    while not any(given[-1][2:4]):
        actions.append(random_action(env, rng))
        given.append(env.step(actions[-1]))
    return given, actions


# --- checkers ------------------------------------------------------------------------------------


@every_variant
def test_the_checkers_of_gymnasium_and_sb3_pass(variant, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # Gymnasium's checker opens a window
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        name = f"armarl/{variant.title}-v0"
        env = gymnasium.make(name, **variant.options, render_mode="ansi")
        check_env(env.unwrapped)
        sb3.check_env(env.unwrapped)
        sb3.check_env(env)
        rng = np.random.default_rng(0)
        for _ in range(2):  # this also runs Gymnasium's passive checker
            env.reset()
            over = False
            while not over:
                masks = env.get_wrapper_attr("action_masks")()
                *_, terminated, truncated, _info = env.step(rng.choice(np.flatnonzero(masks)))
                over = terminated or truncated
                assert isinstance(env.render(), str)


@every_game
def test_maskable_ppo_accepts_the_environment(variant):
    name = f"armarl/{variant.title}-v0"
    env = DummyVecEnv([lambda: gymnasium.make(name, **variant.options) for _ in range(2)])
    env.reset()
    assert get_action_masks(env).shape == (2, env.action_space.n)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, seed=0)
    model.learn(64)


# --- behaviour -----------------------------------------------------------------------------------


@every_variant
def test_an_episode(variant):
    env, rng = variant.seat_env(), np.random.default_rng(0)
    given, actions = episode(env, rng, seed=1)
    assert len(given) == len(actions) + 1 >= 2
    for observation, *middle, info in given:
        over = any(middle[1:])
        assert env.observation_space.contains(observation)
        assert set(info) == {"action_mask", "seat", "illegal_action"}
        assert info["seat"] == env.seat
        assert info["action_mask"].dtype == np.int8
        assert info["action_mask"].all() if over else info["action_mask"].any()
        assert env.action_space.contains(env.action_space.sample(info["action_mask"]))
    for one, other in itertools.combinations(given, 2):
        assert not np.shares_memory(one[0], other[0])
        assert not np.shares_memory(one[-1]["action_mask"], other[-1]["action_mask"])
    assert not np.shares_memory(env.action_masks(), env.action_masks())
    assert all(step[1] == 0.0 for step in given[1:-1])
    cut_short = variant.game == "armada"  # `max_turns`, a rule, ends these games
    assert given[-1][2:4] == (True, False)
    assert given[-1][1] == 0.0 or not cut_short
    assert type(given[-1][1]) is float


@every_variant
def test_a_seed_makes_everything_reproducible(variant):
    first, second = (variant.seat_env(seat=None) for _ in range(2))
    runs = []
    for env in (first, second):
        rng = np.random.default_rng(3)
        runs.append([episode(env, rng, seed=5), episode(env, rng), episode(env, rng)])
    assert data_equivalence(runs[0], runs[1])
    assert not data_equivalence(runs[0][0], runs[0][1])


@every_variant
def test_a_copy_in_mid_episode_continues_alike(variant):
    env, rng = variant.seat_env(opponents="greedy"), np.random.default_rng(2)
    env.reset(seed=8)
    for _ in range(variant.midgame // 4):
        env.step(random_action(env, rng))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    actions, given, over = [], [], False
    while not over:
        actions.append(random_action(env, rng))
        given.append(env.step(actions[-1]))
        over = any(given[-1][2:4])
    after = env.reset()
    for twin in twins:
        assert data_equivalence([twin.step(action) for action in actions], given)
        assert data_equivalence(twin.reset(), after)


def test_text_for_people_shows_what_the_seat_knows():
    env = SeatEnv("armadora", seat=1, opponents=passes(make_game("armadora")), render_mode="ansi")
    env.reset(seed=0)
    env.step(env.action_id("W5 a1"))
    assert env.action_text(env.action_id("pass")) == "pass"
    assert env.describe()["warriors"]["a1"]["value"] == 5
    assert env.describe(0)["warriors"]["a1"]["value"] is None
    assert env.render() == env.game.draw(env._states[0], 1)  # the view of the seat
    assert "(you)" in env.render()
    silent = SeatEnv("armadora")
    silent.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert silent.render() is None


# --- seats, opponents and rewards ----------------------------------------------------------------


@every_rich_game
def test_the_seat_is_fixed_or_drawn(variant):
    drawn = variant.seat_env()
    seats = [drawn.reset(seed=0 if game == 0 else None)[1]["seat"] for game in range(60)]
    assert {seats.count(seat) > 10 for seat in range(3)} == {True}
    fixed = variant.seat_env(seat=2)
    assert {fixed.reset(seed=game)[1]["seat"] for game in range(10)} == {2}


@every_variant
def test_a_seat_sees_the_same_game_as_in_the_aec_environment(variant):
    """If the opponents replay a recorded AEC game, the learner's seat sees the same game."""
    game = variant.make()
    for seat, reward in itertools.product(range(game.players), game.rewards):
        rng = np.random.default_rng(seat)
        aec = variant.aec(reward=reward)
        aec.reset(seed=21)
        seen, played = [], []
        while not (aec.terminations["player_0"] or aec.truncations["player_0"]):
            mover = int(aec.agent_selection[-1])
            action = int(rng.choice(np.flatnonzero(aec.last()[0]["action_mask"])))
            if mover == seat:
                seen.append((aec.last()[0], action))
            else:
                played.append((mover, action))
            aec.step(action)
        record = iter(played)

        def replay(_state, mover, _draw, record=record):
            recorded, action = next(record)
            assert recorded == mover
            return action

        env = variant.seat_env(seat=seat, reward=reward, opponents=Scripted(replay))
        observation, info = env.reset(seed=21)
        for number, (expected, action) in enumerate(seen):
            assert np.array_equal(observation, expected["observation"])
            assert np.array_equal(info["action_mask"], expected["action_mask"])
            assert np.array_equal(env.action_masks(), expected["action_mask"])
            observation, earned, terminated, truncated, info = env.step(action)
            over = number == len(seen) - 1
            assert (terminated or truncated) == over
            assert over or earned == 0.0
        agent = f"player_{seat}"
        assert (terminated, truncated) == (aec.terminations[agent], aec.truncations[agent])
        assert earned == aec.rewards[agent]
        assert np.array_equal(observation, aec.observe(agent)["observation"])


@pytest.mark.parametrize(("players", "loss"), [(2, -1.0), (3, -0.5), (4, -1.0)])
def test_the_learner_gets_its_loss_if_another_player_ends_the_game(players, loss):
    """The learner passes immediately. It gets the loss, no matter which player ends the game."""
    for seat in range(players):
        env = SeatEnv("armadora", players=players, seat=seat)
        rewards = []
        for seed in range(10):
            env.reset(seed=seed)
            _, reward, terminated, _, info = env.step(env.action_id("pass"))
            assert terminated  # the learner makes no further decision
            assert info["action_mask"].all()
            won = env.describe()["result"]["winners"]
            side = env.game.sides[seat]
            assert (reward < 0) == (side not in won)
            rewards.append(reward)
        assert rewards.count(loss) >= (2 if players == 4 else 8)


def test_the_learner_gets_its_win_if_another_player_ends_the_game():
    game = make_game("armadora")
    env = SeatEnv(game, opponents=passes(game), seat=0)
    env.reset(seed=0)
    assert env.step(env.action_id("W5 a1"))[1:4] == (0.0, False, False)
    assert env.step(env.action_id("pass"))[1:4] == (1.0, True, False)


def test_partners_share_a_reward():
    """With four players, a loss of the learner is also a loss of the opposite seat (ARM-9)."""
    env = SeatEnv("armadora", players=4, seat=0)
    env.reset(seed=0)
    reward = env.step(env.action_id("pass"))[1]
    returns = env.game.returns(env._states, np.zeros(1, np.int64))[0]
    assert reward == returns[0]
    assert returns[0] == returns[2] == -returns[1] == -returns[3]


def test_opponents_sit_clockwise_from_the_learner():
    game = make_game("armadora", players=4)
    asked = []

    def named(name):
        act = passes(game).act
        return Scripted(lambda s, seat, d: asked.append((name, seat)) or act(s, seat, d), name)

    for seat in range(4):
        asked.clear()
        env = SeatEnv(game, opponents=[named("left"), named("far"), named("right")], seat=seat)
        env.reset(seed=0)
        env.step(env.action_id("pass"))
        places = {"left": 1, "far": 2, "right": 3}
        assert sorted(asked) == sorted((n, (seat + k) % 4) for n, k in places.items())


@every_variant
def test_opponents_see_only_what_their_seats_may_know(variant):
    game, rng = variant.make(), np.random.default_rng(0)
    asked = []

    def spy(state, seat, draw):
        states = np.full(1, state)
        assert states.tobytes() == game.concealed(states, np.array([seat])).tobytes()
        assert 0 <= draw < 1
        asked.append(seat)
        mask = game.legal_masks(states)[0]
        return int(np.flatnonzero(mask)[int(draw * mask.sum())])

    env = SeatEnv(game, opponents=Scripted(spy), seat=0)
    episode(env, rng, seed=0)
    assert set(asked) == set(range(1, game.players))


def test_the_chart_of_an_environment_is_an_attribute():
    env = gymnasium.make("armarl/Armada-v0")
    chart = env.unwrapped.chart
    assert isinstance(chart, Chart)
    assert SeatEnv("armada", chart=chart.as_dict()).chart.as_dict() == chart.as_dict()
    assert env.get_wrapper_attr("chart") is chart


# --- errors that a new user meets ----------------------------------------------------------------


@every_game
def test_an_illegal_action_ends_the_episode(variant):
    env = variant.seat_env(seat=0)
    env.reset(seed=0)
    action = int(np.flatnonzero(env.action_masks() == 0)[0])
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert env.observation_space.contains(observation)
    assert info["illegal_action"] == 1
    assert env.refusal.startswith(f"`{env.action_text(action)}` is illegal: ")
    assert info["action_mask"].all()
    with pytest.raises(gymnasium.error.ResetNeeded, match="the episode has ended"):
        env.step(0)
    _, info = env.reset()
    assert (info["illegal_action"], env.refusal) == (0, None)
    for nonsense in (None, 1.0, "pass", np.array([3])):
        with pytest.raises(TypeError):
            env.step(nonsense)


@every_game
def test_calls_before_reset_are_refused(variant):
    env = variant.seat_env()
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step"):
        env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before action_masks"):
        env.action_masks()
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        env.describe()


@every_game
def test_wrong_options_are_refused(variant):
    with pytest.raises(TypeError, match=r"keyword argument 'player'.*players.*opponents, seat, r"):
        variant.seat_env(player=3)
    with pytest.raises(ValueError, match="2, 3 or 4 players, not 5"):
        variant.seat_env(players=5)
    with pytest.raises(ValueError, match="unknown game 'chess'"):
        SeatEnv("chess")
    with pytest.raises(TypeError, match="contains its options already, so remove players"):
        SeatEnv(variant.make(), players=3)
    with pytest.raises(ValueError, match="seat must be from 0 to 1, not 2"):
        variant.seat_env(seat=2)
    with pytest.raises(ValueError, match="a 3-player game takes 2 opponents, got 1"):
        variant.seat_env(players=3, opponents=["random"])
    with pytest.raises(ValueError, match="unknown player 'rndom'"):
        variant.seat_env(opponents="rndom")
    with pytest.raises(ValueError, match="reward must be 'win'"):
        variant.seat_env(reward="points")
    with pytest.raises(TypeError, match="render_mode must be None or 'human' or 'ansi' or"):
        variant.seat_env(render_mode="svg")


@every_rich_game
def test_a_player_can_choose_for_the_learner_from_the_concealed_state(variant):
    env = variant.seat_env()
    game = env.game
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        env.concealed_state()
    player, over = make_player("greedy", game), False
    env.reset(seed=3)
    while not over:
        seat = np.array([env.seat])
        states = env.concealed_state()
        assert states.tobytes() == game.concealed(env.states, seat).tobytes()
        (action,) = player.choose(states, seat, np.array([0.5]))
        states[:] = game.blank  # a copy, so a player may write to it
        _, _, terminated, truncated, info = env.step(action)
        assert not info["illegal_action"]
        over = terminated or truncated
    assert env.concealed_state().shape == (1,)


@pytest.mark.parametrize(
    "make", [SeatEnv, lambda game: SeatVectorEnv(game, 2), lambda game: SelfPlayBatch(game, 2)]
)
@pytest.mark.parametrize("wrong", [armadora_env(), SeatEnv("armadora"), None, 4], ids=str)
def test_an_object_that_is_not_a_game_is_refused(make, wrong):
    """Regression: errors named attributes of environments that the user had not mentioned."""
    with pytest.raises(TypeError, match=r"game must be the name of a game or a Game.*`\.game`"):
        make(wrong)


def test_a_broken_chart_is_refused():
    chart = load_chart().as_dict()
    chart["borders"].append(["C23", "Tortuga"])
    with pytest.raises(ChartError, match="unknown place 'Tortuga'"):
        SeatEnv("armada", chart=chart)


def test_an_opponent_with_an_illegal_action_is_named():
    game = make_game("armadora")
    cheat = Scripted(lambda state, seat, draw: game.actions.id("stop"), "cheat")
    env = SeatEnv(game, opponents=cheat, seat=1)
    with pytest.raises(IllegalActionError, match="player 'cheat' of seat 0: `stop` is illegal"):
        env.reset(seed=0)


def test_all_environments_accept_the_same_seeds():
    """Gymnasium's own seeding would refuse negative seeds and NumPy integers."""
    env, vector = SeatEnv("armadora", seat=0), SeatVectorEnv("armadora", 1, seat=0)
    shown = set()
    for seed in (-1, -(2**63), np.int64(5), 2**63 - 1, 2**63, np.uint64(2**64 - 1), 2**64, 10**99):
        expected = SelfPlayBatch("armadora", 1).reset(seed=[seed]).observations[0]
        assert np.array_equal(env.reset(seed=seed)[0], expected)
        assert np.array_equal(vector.reset(seed=seed)[0][0], expected)
        shown.add(env.states.tobytes())
    assert len(shown) == 8


def test_seeds_too_large_for_a_state_are_hashed():
    """Regression: half of the 64-bit seeds that Minari draws were refused."""
    small = 2**63 - 2
    vector = SeatVectorEnv("armadora", 3, seat=0)  # game i has the seed `seed + i`
    seen = vector.reset(seed=small)[0]
    for i in range(3):
        assert np.array_equal(SeatEnv("armadora", seat=0).reset(seed=small + i)[0], seen[i])
    expected = np.random.SeedSequence(2**63).generate_state(1, np.uint64).view(np.int64)
    states = make_game("armadora").new_states(expected)
    batch = SelfPlayBatch("armadora", 1)
    batch.reset(seed=2**63)
    assert batch.states.tobytes() == states.tobytes()


def test_opponents_cannot_be_replaced():
    """Regression: a replacement was accepted silently, but never played."""
    game = make_game("armadora", players=3)
    for env in (SeatEnv(game), SeatVectorEnv(game, 2), make_vec_env(game, 2)):
        assert [player.name for player in env.opponents] == ["random", "random"]
        with pytest.raises(
            AttributeError, match="the opponents of an environment cannot be replaced"
        ):
            env.opponents = ("greedy", "greedy")
    with pytest.raises(AttributeError, match="the opponents of an environment cannot be replaced"):
        make_vec_env(game, 2).set_attr("opponents", "greedy")


def test_a_wrapper_for_single_environments_refuses_a_batch():
    with pytest.raises(TypeError, match=r"wrapper_class: .* wrap the batch"):
        make_vec_env("armadora", 2, wrapper_class=gymnasium.Wrapper)
