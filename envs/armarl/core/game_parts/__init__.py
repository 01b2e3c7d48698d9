"""Three parts of `Game`: it runs compiled loops, plays at random, and shows a state to people."""
