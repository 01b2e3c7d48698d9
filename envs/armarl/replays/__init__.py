"""Replays: recorded games as one HTML file to click through."""
