"""The learners, each in its own folder or file."""
