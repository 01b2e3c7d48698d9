"""Matches between players, with results and game records."""
