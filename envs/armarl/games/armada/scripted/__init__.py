"""Armada's scripted player, its scores of actions, and the distance maps that it reads."""
