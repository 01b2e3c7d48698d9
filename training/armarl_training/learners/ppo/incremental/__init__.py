"""Passes through PPO's networks that read only the inputs changed since a seat's last decision.

They run on a CPU. Few inputs change between two decisions of a seat. The first layer's outputs for
the second decision are therefore its outputs for the first, plus the effects of the changes (as in
NNUE networks: Nasu, 2018). `passes` gives the same results as `update.dense_passes`, and is tested
against it. `decision_chains` groups a seat's decisions, `changes` finds the changes, and
`first_layer` adds their effects (`first_layer_kernels`). The later layers are in
`last_layer_kernels`.
"""
