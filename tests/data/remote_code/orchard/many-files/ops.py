import torch


def scale(x):
    """Scale by a constant that is kept on the device."""
    return x * torch.tensor(0.5, device="cuda")


def profile(x):
    """Mark a range for the profiler."""
    torch.cuda.nvtx.range_push("orchard")
    return x
