"""Play in a browser: tables of people and players, and the server that shows them."""
