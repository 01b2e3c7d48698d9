"""The slow plain reference of Armada."""
