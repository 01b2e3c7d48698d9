"""The catalogue of games, `make_game`, and a package for each game."""
