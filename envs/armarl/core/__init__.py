"""The contract of a game, and the code that all games share: `Game`, tables and batch loops."""
