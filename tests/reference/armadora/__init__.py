"""The slow plain reference of Armadora."""
