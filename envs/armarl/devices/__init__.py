"""Where the arrays of a batch live: on the CPU, or on a GPU with CUDA."""
