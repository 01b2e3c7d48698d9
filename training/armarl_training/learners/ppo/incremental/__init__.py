"""Passes through PPO's networks on a CPU that use only changes between a seat's decisions.

`passes` offers the same as `ppo.passes`, and is tested against it. `chains` groups decisions,
`entries` finds the changes, and `first_layer` adds them up (`first_loops`). The later layers are in
`last_loops`. Both use the loops over `rows`.
"""
