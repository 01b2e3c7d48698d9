"""The environments: PettingZoo AEC, Gymnasium single and vector, self-play batch, OpenSpiel."""
