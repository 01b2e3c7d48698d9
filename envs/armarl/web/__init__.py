"""Games in a browser: tables for people and players, and a server for the pages of the tables."""
