"""Measures of a player and of a game: exact exploitability, and a search for leaked secrets."""
