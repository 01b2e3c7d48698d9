"""Code that several learners share: opponents, rewards, advantages, shards, saving, imitation."""
