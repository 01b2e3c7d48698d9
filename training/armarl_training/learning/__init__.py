"""The parts that all learners share: protocol, opponents, schedules, shards, saving, imitation."""
