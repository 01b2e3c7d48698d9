"""`make_player`: the one place that knows every kind of player."""
