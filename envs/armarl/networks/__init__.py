"""The networks of saved policies in NumPy and in compiled kernels."""
