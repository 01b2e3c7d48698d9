"""Memory that is reused belongs to only one array at a time."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest

import armarl
from armarl.core.recycled_arrays import LEAST_BYTES, Recycler

SHAPE = (LEAST_BYTES // 4, 1)


def address(array):
    return array.ctypes.data


def test_a_recycled_array_is_like_any_other():
    array = Recycler().empty(SHAPE, np.float32)
    assert type(array) is np.ndarray
    assert (array.shape, array.dtype) == (SHAPE, np.float32)
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.flags.aligned
    array[:] = 3
    assert pickle.loads(pickle.dumps(array)).sum() == copy.deepcopy(array).sum() == array.sum()


@pytest.mark.parametrize(
    "part",
    [lambda a: a[5:], lambda a: a.T, lambda a: a.view(np.uint8), memoryview, lambda a: a[:1][0]],
)
def test_memory_is_in_use_as_long_as_a_view_of_the_array(part):
    recycler = Recycler()
    array = recycler.empty(SHAPE, np.float32)
    there, kept = address(array), part(array)
    del array
    gc.collect()
    other = recycler.empty(SHAPE, np.float32)
    assert address(other) != there
    del kept
    gc.collect()
    assert address(recycler.empty(SHAPE, np.float32)) == there


def test_a_recycler_stores_the_memory_of_one_array_per_size():
    recycler = Recycler()
    arrays = [recycler.empty(SHAPE, np.float32) for _ in range(5)]
    arrays.append(recycler.empty((2, *SHAPE), np.float32))
    arrays.append(recycler.empty((3,), np.int8))  # the array is small, so its memory is not stored
    arrays.clear()
    gc.collect()
    assert {size: len(kept) for size, kept in recycler._spare.items()} == {
        LEAST_BYTES: 1,
        2 * LEAST_BYTES: 1,
    }


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
def test_a_copy_shares_no_memory(twin):
    recycler = Recycler()
    recycler.empty(SHAPE, np.int32)  # freed immediately, so that its memory can be used again
    other = twin(recycler)
    first, second = recycler.empty(SHAPE, np.int32), other.empty(SHAPE, np.int32)
    assert not np.shares_memory(first, second)


def test_arrays_of_several_threads_share_no_memory():
    recycler, faults = Recycler(), []

    def work(number):
        for _ in range(200):
            array = recycler.empty(SHAPE, np.float32)
            array[:] = number
            if not (array == number).all():
                faults.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_turns_that_a_caller_keeps_do_not_change(twin):
    """A rollout that keeps some turns and drops others sees the same as a rollout with copies."""
    batches = [armarl.SelfPlayBatch("armadora", 256) for _ in range(2)]
    turns = [batch.reset(seed=0) for batch in batches]
    kept, copies = [], []
    for number in range(12):
        if number == 6:
            batches[0] = twin(batches[0])
        actions = turns[1].masks.argmax(axis=1)
        turns = [batch.step(actions) for batch in batches]
        assert np.array_equal(turns[0].observations, turns[1].observations)
        if number % 3 == 0:
            kept.append(turns[0])
            copies.append((turns[1].observations.copy(), turns[1].masks.copy()))
    for turn, (observations, masks) in zip(kept, copies, strict=True):
        assert np.array_equal(turn.observations, observations)
        assert np.array_equal(turn.masks, masks)
