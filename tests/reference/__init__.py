"""Slow, plain implementations of the rules, and comparisons of the compiled rules with them."""
