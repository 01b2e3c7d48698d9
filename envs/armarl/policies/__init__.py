"""Saved policies: files, their checks, and the players made from them."""
