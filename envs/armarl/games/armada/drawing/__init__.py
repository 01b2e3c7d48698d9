"""Pictures of Armada."""
