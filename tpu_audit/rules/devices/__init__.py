"""Rules on where tensors and modules live."""
