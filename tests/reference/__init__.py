"""Slow, plain re-statements of the rules, and the checks that hold the compiled ones to them."""
