"""Each game of a batch is equal, byte for byte, to the same game in the AEC environment."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import tiny
from armarl.core import threads
from armarl.core.verbs import CUT_SHORT, ENDED, ILLEGAL, PLAYING
from armarl.environments.aec import RawAECEnv
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.games.make_game import make_game
from armarl.players.simple_players import RandomPlayer
from reference.seat_game import Chance
from variants import every_game, every_rich_game, every_variant

SIZE = 7
STEPS = {"armadora": 150, "armada": 400, "kuhn_poker": 30}
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)


@pytest.fixture(params=[1, 3], ids=["1-thread", "3-threads"])
def several_threads(request, small_shares):
    """Play small batches on one thread, and then on three."""
    before = threads.get_threads()
    threads.set_threads(request.param)
    yield
    threads.set_threads(before)


def alone(game, size=SIZE, reward="win", seed=0):
    """Return an AEC environment for each game of a batch."""
    envs = [RawAECEnv(game, reward, None) for _ in range(size)]
    for i, env in enumerate(envs):
        env.reset(seed + i)
    return envs


def over(env):
    return any(env.terminations.values()) or any(env.truncations.values())


def assert_same(turn, i, batch, env):
    """Check that game `i` of a batch shows the same as the AEC environment."""
    assert batch.states[i].tobytes() == env._states[0].tobytes()
    if over(env):
        assert not turn.masks[i].any()
        return
    assert env.agent_selection == f"player_{turn.seats[i]}"
    view = env.observe(env.agent_selection)
    assert np.array_equal(turn.observations[i], view["observation"])
    assert np.array_equal(turn.masks[i], view["action_mask"])


# --- all seats -----------------------------------------------------------------------------------


@every_variant
def test_each_game_of_a_batch_is_equal_to_a_single_game(variant, several_threads):
    game, rng = variant.make(), np.random.default_rng(0)
    batch, envs = SelfPlayBatch(game, SIZE), alone(game, seed=11)
    turn, ended = batch.reset(seed=11), 0
    for i, env in enumerate(envs):
        assert_same(turn, i, batch, env)
    for _ in range(STEPS[variant.game]):
        actions = tiny.random_actions(turn.masks, rng)
        turn = batch.step(actions)
        for i, (env, action) in enumerate(zip(envs, actions, strict=True)):
            env.step(int(action))
            rewards = list(env.rewards.values())
            assert turn.rewards[i].tolist() == rewards
            assert turn.terminated[i] == all(env.terminations.values())
            assert turn.truncated[i] == all(env.truncations.values())
            if over(env):
                assert batch.final_states[i].tobytes() == env._states[0].tobytes()
                env.reset()
                ended += 1
            assert_same(turn, i, batch, env)
    assert ended >= SIZE


@every_mode
@every_game
def test_autoreset_modes_play_the_same_games(variant, mode):
    """With NEXT_STEP and DISABLED, a step shows a game's end, and the next game begins later."""
    game, rng = variant.make(), np.random.default_rng(1)
    batch, envs = SelfPlayBatch(game, SIZE, autoreset_mode=mode), alone(game)
    turn, ended = batch.reset(seed=0), 0
    for _ in range(STEPS[variant.game]):
        actions = tiny.random_actions(turn.masks, rng)
        resting = np.array([over(env) for env in envs])
        turn = batch.step(actions)
        for i, (env, action) in enumerate(zip(envs, actions, strict=True)):
            if resting[i]:  # this happens only with NEXT_STEP
                env.reset()
                assert turn.ends[i] == PLAYING
                assert not turn.rewards[i].any()
            else:
                env.step(int(action))
                assert turn.rewards[i].tolist() == list(env.rewards.values())
                assert (turn.ends[i] != PLAYING) == over(env)
            if over(env):
                ended += 1
                if mode is AutoresetMode.SAME_STEP:
                    env.reset()
            assert_same(turn, i, batch, env)
        finished = turn.ends != PLAYING
        if mode is AutoresetMode.DISABLED and finished.any():
            with pytest.raises(gymnasium.error.ResetNeeded, match="autoreset is disabled"):
                batch.step(actions)
            turn = batch.reset(games=finished)
            for i in np.flatnonzero(finished):
                envs[i].reset()
            for i, env in enumerate(envs):
                assert_same(turn, i, batch, env)
    assert ended >= SIZE


@every_rich_game
def test_the_size_and_the_number_of_threads_change_no_game(variant, small_shares):
    """The first games of a large batch on several threads are equal to a small batch on one."""
    game, before, traces = variant.make(), threads.get_threads(), []
    for size, number in ((5, 1), (64, 1), (64, 4), (301, 3)):
        threads.set_threads(number)
        batch = SelfPlayBatch(game, size)
        turn, trace, rng = batch.reset(seed=3), [], np.random.default_rng(0)
        for _ in range(120):
            draws = rng.random(5)
            actions = turn.masks.argmax(axis=1)
            for i, draw in enumerate(draws):
                legal = np.flatnonzero(turn.masks[i])
                actions[i] = legal[int(draw * legal.size)]
            turn = batch.step(actions)
            trace.append(tuple(column[:5].tobytes() for column in vars(turn).values()))
            trace.append(batch.states[:5].tobytes())
        traces.append(trace)
    threads.set_threads(before)
    assert traces[0] == traces[1] == traces[2] == traces[3]


@every_rich_game
def test_results_are_written_to_the_caller_s_arrays(variant):
    batch, other = (SelfPlayBatch(variant.make(), SIZE) for _ in range(2))
    mine, rng = batch.new_turn(), np.random.default_rng(0)
    assert batch.reset(seed=0, out=mine) is mine
    turn = other.reset(seed=0)
    for _ in range(50):
        actions = tiny.random_actions(mine.masks, rng)
        mine.masks[:] = 1  # callers may write here, because the masks are not read again
        assert batch.step(actions, out=mine) is mine
        before, turn = turn, other.step(actions)
        for name, column in vars(turn).items():
            assert np.array_equal(column, getattr(mine, name)), name
            assert not np.shares_memory(column, getattr(before, name))


@every_game
def test_an_illegal_action_ends_its_game(variant):
    for mode in AutoresetMode:
        batch = SelfPlayBatch(variant.make(), 3, autoreset_mode=mode)
        turn = batch.reset(seed=0)
        wrong = [np.flatnonzero(turn.masks[0] == 0)[0], -1, turn.masks.shape[1]]
        before, seats = batch.states.copy(), turn.seats
        turn = batch.step(np.array(wrong))
        assert turn.ends.tolist() == [ILLEGAL] * 3
        assert turn.terminated.all()
        assert not turn.truncated.any()
        expected = np.zeros((3, batch.game.players))
        expected[np.arange(3), seats] = -1
        assert np.array_equal(turn.rewards, expected)
        if mode is AutoresetMode.SAME_STEP:
            assert batch.final_states.tobytes() == before.tobytes()
            assert turn.masks.any(axis=1).all()
        else:
            assert batch.states.tobytes() == before.tobytes()
            assert not turn.masks.any()


@every_rich_game
def test_a_copy_in_mid_game_continues_alike(variant):
    batch, rng = SelfPlayBatch(variant.make(), SIZE), np.random.default_rng(0)
    turn = batch.reset(seed=5)
    for _ in range(40):
        turn = batch.step(tiny.random_actions(turn.masks, rng))
    twins = [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    for _ in range(60):
        actions = tiny.random_actions(turn.masks, rng)
        turn = batch.step(actions)
        for twin in twins:
            again = twin.step(actions)
            for name, column in vars(turn).items():
                assert np.array_equal(column, getattr(again, name))


def test_a_batch_takes_one_seed_or_one_for_each_game():
    batch = SelfPlayBatch("armadora", 3, players=3)
    batch.reset(seed=[4, 9, -1])
    assert batch.states.tobytes() == batch.game.new_states(np.array([4, 9, -1])).tobytes()
    batch.reset(seed=4)
    assert batch.states.tobytes() == batch.game.new_states(np.array([4, 5, 6])).tobytes()
    batch.reset(seed=100, games=np.array([False, True, False]))
    assert batch.states.tobytes() == batch.game.new_states(np.array([4, 101, 6])).tobytes()
    dealt = [SelfPlayBatch("armadora", 3) for _ in range(2)]
    for unseeded in dealt:
        unseeded.reset()
    assert dealt[0].states.tobytes() != dealt[1].states.tobytes()


def test_a_reset_without_a_seed_continues_the_random_numbers_of_each_game():
    """An AEC environment that is reset without a seed also continues its random numbers."""
    batch, envs = SelfPlayBatch("armadora", 2), alone(make_game("armadora"), 2)
    batch.reset(seed=0)
    batch.reset()
    for i, env in enumerate(envs):
        env.reset()
        assert batch.states[i].tobytes() == env._states[0].tobytes()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: SelfPlayBatch("armadora", 0), ValueError, "number of games must be from 1 to "),
        (
            lambda: SelfPlayBatch("armadora", 2, colour=1),
            TypeError,
            "the environment's options are r",
        ),
        (lambda: SelfPlayBatch(make_game("armadora"), 2, players=3), TypeError, "options already"),
        (
            lambda: SelfPlayBatch("armadora", 2, autoreset_mode="later"),
            ValueError,
            "NEXT_STEP, SAME_STEP, DISABLED",
        ),
        (lambda: SelfPlayBatch("armadora", 2, reward="fun"), ValueError, "'win' or 'gold'"),
        (
            lambda: SelfPlayBatch("armadora", 2).step(np.zeros(2, int)),
            gymnasium.error.ResetNeeded,
            "reset",
        ),
        (lambda: begun().step(np.zeros(3, int)), ValueError, r"shape \(2,\), not \(3,\)"),
        (lambda: begun().step(np.zeros(2)), TypeError, "integers, not float64"),
        (lambda: begun().reset(seed=[1, 2, 3]), ValueError, "or 2 seeds, got 3"),
        (lambda: begun().reset(seed=-(2**63) - 1), ValueError, "seed must be -2"),
        (lambda: begun().reset(games=np.array([1, 0])), ValueError, "bool array"),
        (lambda: begun().reset(out=other_turn(3)), ValueError, r"out.seats must be int64 of .*2,"),
        (lambda: step_into(other_turn(3)), ValueError, r"as new_turn\(\) makes it"),
        (lambda: step_into(other_turn(2, players=3)), ValueError, "out.observations must be"),
        (lambda: begun().reset(games=np.zeros(2, bool)), ValueError, "at least one game"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def begun():
    batch = SelfPlayBatch("armadora", 2)
    batch.reset(seed=0)
    return batch


def other_turn(size, **options):
    return SelfPlayBatch("armadora", size, **options).new_turn()


def step_into(out):
    begun().step(np.zeros(2, int), out=out)


def test_columns_of_other_lengths_are_refused():
    """The compiled loops would read and write out of bounds."""
    game = make_game("armadora")
    states = game.new_states(np.arange(3))
    masks, two, three = game.legal_masks(states), np.zeros(2, np.int64), np.zeros(3, np.int64)
    for call in (
        lambda: game.views(states, two),
        lambda: game.concealed(states, two),
        lambda: game.determinised(states, two, three),
        lambda: game.determinised(states, three, two),
        lambda: game.playouts(states, two),
        lambda: game.random_actions(masks, game.new_chance(two)),
    ):
        with pytest.raises(ValueError, match=r"one for each (game|row)|must have shape \(3,\)"):
            call()


@pytest.mark.parametrize("seat", [-1, 2])
def test_a_seat_out_of_range_is_refused(seat):
    game = make_game("armadora")
    states, seats = game.new_states(np.arange(3)), np.array([0, seat, 1])
    for call in (
        lambda: game.views(states, seats),
        lambda: game.concealed(states, seats),
        lambda: game.determinised(states, seats, np.arange(3)),
    ):
        with pytest.raises(ValueError, match=f"seats must be from 0 to 1, not {seat}"):
            call()


def test_autoreset_modes_can_be_given_by_name():
    for name in ("SAME_STEP", "same_step", "SameStep", AutoresetMode.SAME_STEP):
        assert SelfPlayBatch("armadora", 1, autoreset_mode=name).autoreset_mode is (
            AutoresetMode.SAME_STEP
        )


# --- playouts ------------------------------------------------------------------------------------


@every_variant
def test_playouts_are_equal_to_games_of_random_players(variant, several_threads):
    game = variant.make()
    states, seeds = game.new_states(np.arange(SIZE)), np.arange(50, 50 + SIZE)
    middle = game.taken(states, np.arange(SIZE))
    first = game.playouts(states, seeds)
    for i, env in enumerate(alone(game)):
        chance, player, length = Chance(50 + i), RandomPlayer(game), 0
        while not over(env):
            seats = np.array([env.possible_agents.index(env.agent_selection)])
            draws = np.array([chance.uniform()])
            env.step(int(player.choose(env._states, seats, draws)[0]))
            length += 1
        assert first[1][i] == length
        assert first[0][i].tolist() == list(env.rewards.values())
        assert states[i].tobytes() == env._states[0].tobytes()
    assert (game.statuses(states)[0] == (CUT_SHORT if game.name == "armada" else ENDED)).all()
    returns, lengths = game.playouts(middle, seeds)
    assert np.array_equal(returns, first[0])
    assert np.array_equal(lengths, first[1])
    returns, lengths = game.playouts(states, seeds)  # the games are already over
    assert np.array_equal(returns, first[0])
    assert not lengths.any()


def test_playouts_choose_uniformly():
    """All legal actions are equally likely, in every block of the mask."""
    game = make_game("armada", cards=True)
    states = game.taken(game.new_states(3), np.zeros(1, np.int64))
    game.playouts(states, np.array([1]))
    rng, tries = np.random.default_rng(0), 20_000
    masks = np.zeros((tries, len(game.actions)), np.int8)
    legal = [0, 1, 63, 64, 127, 500, masks.shape[1] - 1]
    masks[:, legal] = 1
    actions = game.random_actions(masks, game.new_chance(rng.integers(1 << 60, size=tries)))
    found, counts = np.unique(actions, return_counts=True)
    assert found.tolist() == legal
    # Chi-square test, 6 degrees of freedom, 0.1 %.
    assert ((counts - tries / 7) ** 2 / (tries / 7)).sum() < 22.5
