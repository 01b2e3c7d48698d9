"""Players: programs, or people, that choose the actions of seats."""
