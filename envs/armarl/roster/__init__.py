"""`make_player`, the one function that makes every kind of player."""
