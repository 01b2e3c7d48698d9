"""Training for ArmaRL: self-play with MaskablePPO, from a config to a saved policy."""
