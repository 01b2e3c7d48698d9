"""ArmaRL: the board games Armadora and Armada as reinforcement-learning environments."""
