"""Training for ArmaRL, from a configuration to a saved and measured policy.

The learners are judges of positions by TD, critics of scripted play, policies by PPO, and
sb3-contrib's MaskablePPO.
"""
