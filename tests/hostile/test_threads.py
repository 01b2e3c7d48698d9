"""Threads with errors and signals: no caller waits for ever, and no thread writes after a call."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from armarl.compiler.work_sharing import PLAYED, TAKEN
from armarl.core import threads
from armarl.core.game_parts import random_play
from armarl.environments.aec import CheckedAECEnv, RawAECEnv
from armarl.environments.seat_env import SeatEnv
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.make_game import make_game
from armarl.roster.make_player import make_player
from armarl.search import lookahead, settings
from armarl_training import make_vec_env

pytestmark = pytest.mark.usefixtures("small_shares", "_four_threads")


@pytest.fixture
def _four_threads() -> Iterator[None]:
    before = threads.get_threads()
    threads.set_threads(4)
    yield
    threads.set_threads(before)


class Loop:
    """Shares of work as in `work_sharing.take_shares`, but in Python.

    Each share takes milliseconds.
    """

    def __init__(self, fails_on: int = -1, pause: float = 0.01) -> None:
        self.fails_on, self.pause = fails_on, pause
        self.lock = threading.Lock()
        self.running = 0
        self.others_began = threading.Event()

    def __call__(self, calls: Any, progress: Any, bounds: Any, thread: int, batch: Any) -> None:
        if thread == 0:
            self.others_began.wait(5)
        else:
            self.others_began.set()
        while True:
            with self.lock:
                share = progress[TAKEN]
                progress[TAKEN] += 1
            if share >= bounds.size - 1:
                return
            if thread == self.fails_on:
                raise IndexError(f"in thread {thread}")
            self.running += thread > 0
            time.sleep(self.pause)
            batch[bounds[share] : bounds[share + 1]] += 1
            self.running -= thread > 0
            with self.lock:
                progress[PLAYED] += 1


def test_every_game_is_played_exactly_once() -> None:
    batch = np.zeros(50, np.int64)
    threads.run(Loop(), 50, batch)
    assert (batch == 1).all()


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    """Regression: the caller waited for ever for the share of that thread."""
    batch = np.zeros(50, np.int64)
    with pytest.raises(IndexError, match="in thread"):
        threads.run(Loop(fails_on=2), 50, batch)


def test_an_error_in_the_calling_thread_waits_for_the_other_threads() -> None:
    loop, batch = Loop(fails_on=0), np.zeros(50, np.int64)
    with pytest.raises(IndexError):
        threads.run(loop, 50, batch)
    assert loop.running == 0
    after = batch.copy()
    time.sleep(0.1)
    assert (batch == after).all()


@pytest.mark.skipif(os.name != "posix", reason="the signal needs POSIX")
def test_ctrl_c_returns_only_when_no_thread_writes() -> None:
    loop, batch = Loop(pause=0.1), np.zeros(2000, np.int64)
    # SIGINT must raise KeyboardInterrupt, even if this process was started with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            threads.run(loop, 2000, batch)
    finally:
        signal.signal(signal.SIGINT, before)
    assert loop.running == 0
    after = batch.copy()
    time.sleep(0.1)
    assert (batch == after).all()
    assert 0 < batch.sum() < 2000
    batch[:] = 0
    threads.run(Loop(), 50, batch[:50])  # the threads still work
    assert (batch[:50] == 1).all()


ENDLESS = """
import os, signal, threading
import numpy as np
from armarl import make_game, make_player

game = make_game("armadora")
states, one = game.new_states(1), np.zeros(1, np.int64)
make_player({quick!r}, game).choose(states, one, np.zeros(1))
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests ignore it
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    make_player({player!r}, game).choose(states, one, np.zeros(1))
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.skipif(os.name != "posix", reason="the signal needs POSIX")
@pytest.mark.parametrize(
    "search",
    ["grave:{}", "ismcts:{}", "flat:{}", "rollout:{}", "armadora-2p+search:{}"],
)
def test_ctrl_c_ends_a_long_search(search: str) -> None:
    """Regression: all simulations were one call of compiled code, which receives no signals."""
    script = ENDLESS.format(
        player=search.format(1 << 23),
        quick=search.format(2),
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "stopped\n"


MANY = """
import os, signal, threading
import numpy as np
from armarl import make_game
from armarl.core import threads

threads.set_threads(1)
game = make_game("armada")
game.playouts(game.new_states(1), np.zeros(1, np.int64))
states, seeds = game.new_states(np.arange(6000)), np.arange(6000)
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    game.playouts(states, seeds)
except KeyboardInterrupt:
    over = (game.statuses(states)[0] != 0).sum()
    print("some" if 0 < over < 6000 else over)
"""


@pytest.mark.skipif(os.name != "posix", reason="the signal needs POSIX")
def test_ctrl_c_ends_playouts_of_many_games() -> None:
    """Regression: all games were one call of compiled code, which receives no signals."""
    done = subprocess.run(
        [sys.executable, "-c", MANY], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == "some\n"


def test_splitting_playouts_into_portions_changes_no_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = make_game("armadora")
    found = []
    for at_once in (4096, 7):
        monkeypatch.setattr(random_play, "_PLAYOUTS_AT_ONCE", at_once)
        states = game.new_states(np.arange(100))
        found.append([*game.playouts(states, np.arange(100)), states])
    for mine, its in zip(*found, strict=True):
        assert mine.tobytes() == its.tobytes()


@pytest.mark.parametrize("search", ["grave:90", "ismcts:90", "rollout:90", "armadora-2p+search:90"])
def test_splitting_a_search_into_portions_changes_no_result(
    search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make_game("armadora")
    states, seats, draws = game.new_states(np.arange(3)), np.zeros(3, np.int64), np.full(3, 0.4)
    found = []
    for at_once in ([90], [1, 7, 50, 32]):
        monkeypatch.setattr(settings, "portions", lambda _number, _first, of=at_once: iter(of))
        monkeypatch.setattr(lookahead, "portions", lambda number, _first, of=at_once: iter(of))
        found.append(make_player(search, game).think(states, seats, draws))  # type: ignore[attr-defined]
    one, other = found
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, its)


def test_portions_have_the_right_total() -> None:
    for number in (0, 1, 31, 32, 33, 10_000):
        assert sum(settings.portions(number, 32)) == number


def test_scratch_suffices_if_the_number_of_threads_changes() -> None:
    """Regression: the loop used a newer number of threads than its scratch memory was made for."""
    game = make_game("armadora")
    for games in (1, 64, 1000):
        threads.set_threads(1)
        rows = len(game.scratch_masks(games))
        threads.set_threads(threads.MOST_THREADS)
        assert rows >= 2 * threads.threads_for(games)
        assert rows >= 2 * threads.threads_for(games, threads.LEAST_GAMES_OF_LIGHT_LOOPS)


def test_the_number_of_threads_can_change_during_playouts() -> None:
    game, seeds = make_game("armadora"), np.arange(64)
    expected = game.playouts(game.new_states(seeds), seeds)[0]
    done = threading.Event()

    def set_often() -> None:
        while not done.is_set():
            for number in (1, 2, 16, 3):
                threads.set_threads(number)

    setter = threading.Thread(target=set_often)
    setter.start()
    try:
        for _ in range(50):
            assert (game.playouts(game.new_states(seeds), seeds)[0] == expected).all()
    finally:
        done.set()
        setter.join()


@pytest.mark.parametrize("value", ["", "0", "-1", "1.5", "two", "9" * 5000, "257"])
def test_an_invalid_number_of_threads_in_the_environment_is_refused(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMARL_THREADS", value)
    with pytest.raises(ValueError, match="ARMARL_THREADS must be 1 to 256"):
        threads._threads_at_start()


def test_only_one_thread_at_a_time_can_use_a_batch() -> None:
    """Regression: three threads that stepped one batch silently produced impossible states."""
    batch = SelfPlayBatch("armada", 64)
    turn = batch.reset(seed=1)
    before = batch.states.tobytes()
    actions = turn.masks.argmax(axis=1)
    for call in (
        lambda: batch.step(actions),
        lambda: batch.reset(seed=2),
        lambda: batch.load_states(batch.states.copy()),
    ):
        batch._at_work["thread"] = -1  # as if another thread used the batch
        with pytest.raises(RuntimeError, match="from one thread at a time"):
            call()
        assert batch.states.tobytes() == before
    batch._at_work["thread"] = threading.get_ident()  # as if Ctrl-C had left it there
    batch.step(actions)
    assert batch.states.tobytes() != before


def _aec(kind: type[RawAECEnv]) -> tuple[Any, list[Callable[[], Any]]]:
    env = kind(make_game("armada"))
    env.reset(seed=1)
    saved, agent = env.state_bytes(), env.agent_selection
    action = int(env.observe(agent)["action_mask"].argmax())
    return env, [
        *(lambda: env.step(action), lambda: env.reset(seed=2), lambda: env.load_state(saved)),
        *(lambda: env.observe(agent), env.state, env.state_bytes, env.describe),
        *(env.concealed_state, env.last, env.picture, env._repr_svg_),
    ]


def _seat_env() -> tuple[Any, list[Callable[[], Any]]]:
    env = SeatEnv("armada", render_mode="ansi")
    env.reset(seed=1)
    action = int(env.action_masks().argmax())
    return env, [
        *(lambda: env.step(action), lambda: env.reset(seed=2), env.action_masks, env.describe),
        *(env.render, env.concealed_state, env.picture, env._repr_svg_),
    ]


def _vector_env() -> tuple[Any, list[Callable[[], Any]]]:
    env = SeatVectorEnv("armada", 3, render_mode="ansi")
    env.reset(seed=1)
    actions = env.action_masks().argmax(axis=1)
    return env, [
        *(lambda: env.step(actions), lambda: env.reset(seed=2), env.action_masks, env.render),
    ]


def _sb3() -> tuple[Any, list[Callable[[], Any]]]:
    env = make_vec_env("armada", 3, seed=1)
    env.reset()
    actions = env.action_masks().argmax(axis=1)
    return env, [
        *(lambda: env.step(actions), lambda: env.step_async(actions), env.step_wait, env.reset),
        env.observe,
    ]


def _open_spiel() -> tuple[Any, list[Callable[[], Any]]]:
    pytest.importorskip("pyspiel")
    from armarl.environments.open_spiel import register

    state = register("armada").new_initial_state()
    state.apply_action(0)
    action = state.legal_actions()[0]
    return state, [
        *(lambda: state.apply_action(action), state.serialize, state.legal_actions, state.returns),
        *(state.current_player, state.is_terminal, lambda: state.information_state_string(0)),
        *(lambda: state.observation_tensor(0), lambda: state.resampled(0, 1), lambda: str(state)),
    ]


FACES: dict[str, Callable[[], tuple[Any, list[Callable[[], Any]]]]] = {
    "raw AEC": lambda: _aec(RawAECEnv),
    "AEC": lambda: _aec(CheckedAECEnv),
    "SeatEnv": _seat_env,
    "SeatVectorEnv": _vector_env,
    "SB3": _sb3,
    "OpenSpiel": _open_spiel,
}


@pytest.mark.parametrize("face", FACES)
def test_only_one_thread_at_a_time_can_use_an_environment(face: str) -> None:
    """Regression: threads left invalid states, and an opponent was blamed for an illegal action.

    Every call is refused while another thread's call runs, and accepted afterwards.
    """
    env, calls = FACES[face]()
    for call in calls:
        env._at_work["thread"] = -1  # as if another thread used the environment
        with pytest.raises(RuntimeError, match="from one thread at a time"):
            call()
        env._at_work.clear()
    for call in calls:
        call()
        assert not env._at_work


def test_an_environment_can_be_used_after_an_error_and_as_a_copy() -> None:
    env = SeatEnv("armadora")
    env.reset(seed=1)
    with pytest.raises(TypeError, match="an action must be an integer"):
        env.step("no action")
    assert not env._at_work
    env._at_work["thread"] = -1
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        copied.step(int(copied.action_masks().argmax()))


def test_an_opponent_may_use_the_environment_that_asks_it() -> None:
    """Calls by the same thread are accepted while a player chooses.

    Afterwards, no thread uses the environment.
    """

    class Looking:
        name = "looking"

        def choose(self, states: Any, seats: Any, draws: Any) -> Any:
            env.render()
            assert env._at_work  # the thread that steps the environment still uses it
            return env.game.legal_masks(states).argmax(axis=1)

    env = SeatEnv("armadora", opponents=Looking(), render_mode="ansi", seat=1)
    env.reset(seed=1)
    assert not env._at_work
