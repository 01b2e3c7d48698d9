"""The measurements of `scripts/benchmark.py`: one module per kind, and their common `frame`."""
