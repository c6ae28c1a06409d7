"""tpu-audit: what breaks, what is slow and what to change on the way from CUDA to TPU."""

__version__ = "0.1.0"
