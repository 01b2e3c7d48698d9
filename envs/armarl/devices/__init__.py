"""The devices that store the arrays of a batch: the CPU, or a GPU with CUDA."""
