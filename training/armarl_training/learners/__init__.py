"""The learners, one folder or file each."""
