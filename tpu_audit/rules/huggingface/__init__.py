"""Rules on Hugging Face settings, and serving and training stacks."""
