"""The measurements of `scripts/benchmark.py`: one module per kind, and the frame they share."""
