"""Brings the backend up on a host without a TPU, as far as the dispatcher needs it."""

from __future__ import annotations

NO_TPU = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v6e-1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}
"""What a process that loads the wheel needs on a host without a TPU.

Without TPU_SKIP_MDS_QUERY the runtime asks a cloud metadata server for minutes; without
ALLOW_MULTIPLE_LIBTPU_LOAD a second process meets the first one's lock file.
"""
ENVIRONMENT = {**NO_TPU, "PYTHONHASHSEED": "0", "MALLOC_PERTURB_": "255"}
"""What the builder's child is started with. The last two make runs repeat: the order of sets, and
what uninitialised memory holds (zeros).
"""


def initialise() -> str:
    """Import torch and the wheel, register the device, return its type (``tpu``)."""
    import torch_tpu  # noqa: F401  # only the child has it
    from torch_tpu import _loader

    # load() stops before this step when no TPU is plugged in.
    _loader._init_device("tpu")
    return "tpu"
