"""Helpers that do not depend on games: messages, files, JSON, CSV, number checks, user modules."""
