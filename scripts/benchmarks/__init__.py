"""The measurements of `scripts/benchmark.py`: one module per kind, and their common `frame`.

A *peer* is another package that is measured for comparison. A *chunk* is a function that does some
work and returns the amount of work, such as a number of steps. Speeds are measured by calling
chunks repeatedly.
"""
