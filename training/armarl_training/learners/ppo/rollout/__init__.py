"""PPO's games: self-play on the CPU or a GPU, with opponents (rivals) in some seats."""
