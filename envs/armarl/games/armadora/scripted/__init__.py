"""Armadora's scripted player and its judgement of squares and lines."""
