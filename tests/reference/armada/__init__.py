"""The slow reference of Armada, and checks of the compiled game against it."""
