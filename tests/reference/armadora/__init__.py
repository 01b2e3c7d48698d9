"""The slow reference of Armadora."""
