"""Slow, plain implementations of the rules, and checks of the compiled rules against them."""
