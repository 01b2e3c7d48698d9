"""Short programs that use ArmaRL with other libraries, for RL and for experiments.

    python -m armarl_training.examples.cleanrl one-seat --decisions 50000

A program for an RL library trains on two-player Armadora, in one seat against the random player
("one-seat") or in both seats ("all-seats"). It counts illegal actions, and measures the win rate of
its policy against the random player before and after training. A program needs the library that it
is named after, and no other extra of this package. The page frameworks.md has the results.
"""
