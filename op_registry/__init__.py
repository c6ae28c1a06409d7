"""What a PyTorch backend supports, op overload by op overload, extracted from its wheel."""
