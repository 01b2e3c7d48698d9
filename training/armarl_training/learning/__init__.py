"""What all learners share: the protocol, opponents, schedules, shards, saving, imitation."""
