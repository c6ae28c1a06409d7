"""Names of PyTorch's that are CUDA's own, and what stands for them on a TPU."""
