"""Rules on kernels and libraries that need CUDA."""
