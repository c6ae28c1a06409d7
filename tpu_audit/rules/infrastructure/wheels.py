"""How CUDA shows in the names, versions and addresses of Python packages."""

from __future__ import annotations

import re

INDEX = re.compile(
    r"(?<=download\.pytorch\.org/)(whl/(?:nightly/|test/)?)"
    r"(cu(?:\d{2,3}|\$\{\{[^{}]*\}\}|\$\{?\w+\}?|\$\(\w+\)))(?![^\s\"']*\.whl)"
)
"""A wheel index for one CUDA version; the second group is ``cu121``, or ``cu`` and a
variable."""
WHEEL = re.compile(r"https?://[^\s\"'#]*?(?:%2B|\+|/)cu\d{2,3}[^\s\"'#]*?\.whl")
"""The address of one wheel built for CUDA."""
LOCAL_VERSION = re.compile(r"\+cu\d{2,3}\b")
"""The local version of a build for CUDA: ``+cu118``."""
_RUNTIME = (
    r"cublas|cuda-[a-z]+(?:-[a-z]+)*|cudnn|cufft|cufile|curand|cusolver|cusparse|cusparselt"
    r"|nccl|nvjitlink|nvtx|nvshmem|nvml-dev|npp|nvjpeg|cutensor|cuda"
)
RUNTIME = re.compile(rf"nvidia-(?:{_RUNTIME})(?:-cu\d+)?")
"""A package of CUDA's own libraries, for ``fullmatch`` of a normalised name."""
