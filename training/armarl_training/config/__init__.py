"""The settings of a run: their pydantic model, their checks, and their YAML text."""
