"""Rules on the torch.cuda API, distributed and memory."""
