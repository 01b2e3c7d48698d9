"""The networks of saved policies, in NumPy and as compiled code."""
