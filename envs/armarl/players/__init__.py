"""Players: programs that choose actions for seats, in environments, matches and at the terminal."""
