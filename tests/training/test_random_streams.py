"""The random streams of a run still produce the numbers of earlier versions."""

import numpy as np

from armarl_training.common.random_streams import Stream, entropy, generator


def test_streams_are_seeded_as_in_earlier_versions():
    for stream, seeded in [
        (generator(7, Stream.GAMES, 3), (7, 1, 3)),
        (generator(7, Stream.GAMES, 3, 20), (7, 1, 3, 20)),
        (generator(7, Stream.LESSONS), [7, 2]),
        (generator(7, Stream.UPDATES), [7, 3]),
    ]:
        same = np.random.default_rng(seeded)
        assert stream.bit_generator.state == same.bit_generator.state
    assert entropy(7, Stream.GAMES, 3) == (7, 1, 3)
