"""Helpers that know nothing of games: error texts, file writes, number checks, user code."""
