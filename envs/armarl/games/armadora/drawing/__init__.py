"""Pictures of Armadora."""
