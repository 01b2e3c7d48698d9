"""PPO's games: self-play on the CPU or a GPU, with rivals in some seats."""
