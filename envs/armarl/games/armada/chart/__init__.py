"""Armada's chart: its places and borders, chart files, their checks, and the outlines to draw."""
