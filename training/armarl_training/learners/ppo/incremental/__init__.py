"""Passes through PPO's networks on a CPU, by what changes from one decision of a seat to its next.

`passes` offers what `ppo.passes` does, and is held to it. `chains` lays out decisions, `entries`
has what changes in them, `first_layer` adds it up (`first_loops`); the layers behind are in
`last_loops`. Both are built of loops over `rows`.
"""
