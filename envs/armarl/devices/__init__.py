"""The devices that hold the arrays of a batch: the CPU, or a GPU with CUDA."""
