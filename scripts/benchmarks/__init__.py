"""The measurements of `scripts/benchmark.py`: one module per kind, and their common `frame`.

A *peer* is another package that is measured for comparison. For *chunk*, see `frame`.
"""
