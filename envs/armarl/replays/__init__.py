"""Replays: recorded games as one HTML file that one can click through."""
