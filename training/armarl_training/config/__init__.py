"""The settings of a run: their model, their checks, and YAML text."""
