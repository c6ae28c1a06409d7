"""Prints what torch.tpu has, as JSON: public names, and those that refuse calls from user code."""

from __future__ import annotations

import json
import os
import sys
import warnings

# Without these the client asks a metadata server, twice for a minute.
os.environ |= {"TPU_ACCELERATOR_TYPE": "v6e-1", "TPU_WORKER_HOSTNAMES": "localhost"}
os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_ID": "0"}

import torch
import torch_tpu  # noqa: F401 # what _loader belongs to
from torch_tpu import _loader

_ARGUMENTS: dict[str, tuple[int, ...]] = {"set_device": (0,), "device": (0,), "set_stream": (0,)}


def refuses(name: str) -> bool:
    """Tell whether calling ``torch.tpu.NAME`` raises since the caller is not PyTorch."""
    try:
        getattr(torch.get_device_module("tpu"), name)(*_ARGUMENTS.get(name, ()))
    except Exception as error:  # noqa: BLE001 # no device here: other errors mean nothing
        return "is internal to TorchTPU" in str(error)
    return False


warnings.simplefilter("ignore")
_loader._init_device("tpu")
tpu = torch.get_device_module("tpu")
public = sorted(name for name in dir(tpu) if not name.startswith("_"))
internal = [name for name in public if refuses(name)]
sys.stdout.write(json.dumps({"public": public, "internal": internal}))
