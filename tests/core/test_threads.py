"""Threads that share a batch start, wait, and play the same games, however many there are."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numba
import numpy as np
import pytest

import tiny
from armarl.compiler.work_sharing import PLAYED
from armarl.core import batch_loops, threads
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.games.make_game import make_game
from armarl.workers.spread import spread


def a_trace(_=None):
    batch = SelfPlayBatch("armadora", 300, players=3)
    turn, rng = batch.reset(seed=1), np.random.default_rng(0)
    for _ in range(25):
        turn = batch.step(tiny.random_actions(turn.masks, rng))
    return batch.states.tobytes()


@pytest.fixture
def two_threads():
    before = threads.get_threads()
    threads.set_threads(2)
    yield
    threads.set_threads(before)


def threads_here(_):
    return threads.get_threads()


@pytest.mark.parametrize("own", [None, 1])
def test_worker_processes_share_the_cores(own):
    """Regression: each process used all cores, so a search got less CPU time than its limit."""
    before = threads.get_threads()
    threads.set_threads(own)
    try:
        found = list(spread(threads_here, [0, 1], 2))
    finally:
        threads.set_threads(before)
    assert found == 2 * [1 if own else max(1, threads.available_cores() // 2)]


def test_loops_take_states_in_any_order():
    """Regression: the loop prefetched memory by the array's stride, which may be negative."""
    game = make_game("armadora")
    states = game.new_states(np.arange(5))
    states["to_move"] = [0, 1, 0, 0, 1]
    statuses, seats = np.zeros((2, 5), np.int64)
    game.run(batch_loops.read_status, 5, batch_loops.Statuses(states[::-1], statuses, seats))
    assert seats.tolist() == [1, 0, 0, 1, 0]


def test_several_threads_can_play_batches_at_the_same_time(two_threads):
    expected = a_trace()
    with ThreadPoolExecutor(4) as pool:
        traces = list(pool.map(a_trace, range(8)))
    assert traces == [expected] * 8


def test_two_threads_play_a_batch_together(two_threads):
    both = Barrier(2)

    def driver(calls, progress, bounds, thread, batch):
        assert (bounds[0], bounds[-1]) == (0, 1000)
        shares = np.diff(bounds)
        assert (shares > 0).all()
        assert (np.diff(shares) <= 0).all()
        both.wait(timeout=60)  # returns when both threads have arrived
        if thread == 0:
            progress[PLAYED] = bounds.size - 1

    threads.run(driver, 1000, None)


def test_the_caller_waits_for_a_thread_that_is_late(two_threads):
    played = []

    def driver(calls, progress, bounds, thread, batch):
        if thread == 1:
            time.sleep(0.1)
            played.append(thread)
            progress[PLAYED] = bounds.size - 1

    threads.run(driver, 1000, None)
    assert played == [1]


def test_the_caller_plays_without_the_threads_while_they_are_busy(two_threads):
    expected = a_trace()
    workers, occupied = threads._workers(), Event()
    for _ in range(workers.number):
        workers.help(1, occupied.wait, (), threads._Helpers())
    trace = a_trace()  # would wait for ever if the caller needed a free thread
    occupied.set()
    assert trace == expected


def test_a_loop_that_does_not_compile_raises_its_error(two_threads):
    expected = a_trace()
    with pytest.raises(numba.TypingError):
        make_game("armadora").run(batch_loops.apply, 300, "no batch")
    assert a_trace() == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_its_own_threads(two_threads):
    expected = a_trace()
    # `Pool` ends its processes with SIGTERM. A handler in Python, such as Ray's, would never run in
    # a process whose main thread waits, if another thread receives the signal.
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            traces = pool.map(a_trace, range(3))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert traces == [expected] * 3


def test_the_number_of_threads_can_be_set():
    before = threads.get_threads()
    threads.set_threads(5)
    assert threads.get_threads() == 5
    assert threads.threads_for(10**6) == 5
    assert threads.threads_for(1) == threads.threads_for(2 * threads.LEAST_GAMES - 1) == 1
    threads.set_threads(None)
    assert threads.get_threads() == threads.available_cores()
    threads.set_threads(before)
    with pytest.raises(ValueError, match="from 1 to 256, not 0"):
        threads.set_threads(0)
    code = "from armarl.core import threads; print(threads.get_threads())"
    for chosen, printed in (("3", "3\n"), ("many", "")):
        ran = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "ARMARL_THREADS": chosen},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.stdout == printed
        assert printed or "ARMARL_THREADS must be 1 to 256, got 'many'" in ran.stderr
