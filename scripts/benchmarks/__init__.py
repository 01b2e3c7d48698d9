"""The measurements of `scripts/benchmark.py`.

The module `frame` runs the measurements, and defines *probe*, *chunk* and *group*. A *peer* is
another package that is measured for comparison.
"""
