"""Short programs that train with other RL libraries, one for each; see frameworks.md.

    python -m armarl_training.examples.cleanrl one-seat --decisions 50000

Every program trains on two-player Armadora, in one seat against the random player ("one-seat") or
in both ("all-seats"). It counts illegal actions, and measures its win rate against random before
and after training. It needs the library that it is named after, and no other extra of this package.
"""
