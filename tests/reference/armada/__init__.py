"""The slow reference of Armada."""
