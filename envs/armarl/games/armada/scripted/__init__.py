"""Armada's scripted player and the distance maps that it reads."""
