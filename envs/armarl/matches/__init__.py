"""Matches between players: play one, count its result, keep its records."""
