"""Passes through PPO's networks on a CPU that use only changes between a seat's decisions.

`passes` computes the same as `update.dense_passes`, and is tested against it. `decision_chains`
groups decisions, `changes` finds the changes, and `first_layer` adds them up
(`first_layer_kernels`). The later layers are in `last_layer_kernels`. The idea comes from NNUE
networks (Nasu, 2018).
"""
