"""Games in a browser: tables with people and players, and the server of their pages."""
