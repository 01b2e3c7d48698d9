"""The list of games, `make_game`, and a folder for each game."""
