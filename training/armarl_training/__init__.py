"""Training for ArmaRL, from a configuration to a saved and measured policy.

The learners are TD (judges of positions), critics of scripted play, PPO (policies), and MaskablePPO
of sb3-contrib.
"""
