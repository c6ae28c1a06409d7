"""One spelling for names that PyTorch exports in several places."""

from __future__ import annotations

from functools import lru_cache

_MOVED = (
    # Where a name is defined, and where it is documented.
    ("torch.cuda.memory.", "torch.cuda."),
    ("torch.cuda.random.", "torch.cuda."),
    ("torch.cuda.streams.", "torch.cuda."),
    ("torch.cuda.graphs.", "torch.cuda."),
    ("torch.cuda.amp.grad_scaler.", "torch.cuda.amp."),
    ("torch.cuda.amp.autocast_mode.", "torch.cuda.amp."),
    ("torch.amp.grad_scaler.", "torch.amp."),
    ("torch.amp.autocast_mode.", "torch.amp."),
    ("torch.random.", "torch."),
    ("torch.distributed.distributed_c10d.", "torch.distributed."),
    ("torch.nn.parallel.distributed.", "torch.nn.parallel."),
    ("torch.nn.parallel.data_parallel.", "torch.nn.parallel."),
    ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel"),
    ("torch.amp.autocast", "torch.autocast"),
    ("torch.functional.", "torch."),
    ("torch.utils.data.dataloader.", "torch.utils.data."),
)


@lru_cache(maxsize=8192)
def canonical(name: str) -> str:
    """Return the documented spelling of a dotted name."""
    if not name.startswith("torch."):
        return name
    for old, new in _MOVED:
        if name.startswith(old) and (old.endswith(".") or name == old):
            return new + name[len(old) :]
    return name
