"""RL libraries on our environments, each in one short program: docs/frameworks.md tells of them.

    python -m armarl_training.examples.cleanrl one-seat --decisions 50000

Every program trains on two-player Armadora, in one seat against the random player ("one-seat") or
in both ("all-seats"), counts illegal actions, and measures its win rate against random before and
after. It needs the library that it is named after, and nothing else of this package's extras.
"""
