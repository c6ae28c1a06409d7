"""Own reference kernels, one file an op family, declared by ``declare.kernel``."""
