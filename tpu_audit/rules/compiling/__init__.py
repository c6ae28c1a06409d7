"""Rules on torch.compile and friends."""
