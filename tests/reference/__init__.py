"""Slow, plain implementations of the rules, and checks that compare the compiled rules with them."""
