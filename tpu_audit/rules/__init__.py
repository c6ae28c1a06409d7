"""Rules that find CUDA assumptions, and the understanding of code and files that they share."""
