"""Checks that a saved state of Armada is lawful."""
