"""`make_player`, the function that makes every kind of player."""
