"""Helpers that do not depend on games: error texts, file writes, number checks, user code."""
