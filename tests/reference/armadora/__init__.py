"""The slow reference of Armadora, and checks of the compiled game against it."""
