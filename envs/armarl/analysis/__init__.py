"""The exact exploitability of a player, and a search for leaks of hidden information in a game."""
