"""The contract of a game and the code written once for every game: `Game`, tables, batch loops."""
