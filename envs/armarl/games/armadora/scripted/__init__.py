"""Armadora's scripted player and its evaluation of positions."""
