"""Names of NVIDIA's GPUs, and of the machines that clouds rent with them."""

from __future__ import annotations

import re

_MODELS = (
    r"(?:gb300|gb200|gh200|b300|b200|h200|h100|h800|h20|a100|a800|a6000|a5000|a4000|a40|a30|a10g?"
    r"|v100s?|p100|p40|k80|m60|t4g?|l40s?|l4|rtx[-_ ]?\w+|titan[-_ ]?\w*|tesla[-_ ]?\w*)"
)
MODEL = re.compile(
    rf"(?:nvidia[-_: ])?(?:tesla[-_ ])?{_MODELS}(?:[-_ ](?:sxm\d?|pcie|nvl|\d+gb|mega|ultra|vws|"
    r"mega[-_]80gb|high[-_]80gb))*",
    re.IGNORECASE,
)
"""An NVIDIA GPU's name, for ``fullmatch``: A100, H100-80GB, Tesla-V100, NVIDIA_L4."""
ACCELERATOR = re.compile(rf"nvidia[-_](?:tesla[-_])?{_MODELS}[\w-]*", re.IGNORECASE)
"""A cloud's name of an accelerator, for ``fullmatch``: nvidia-tesla-t4, NVIDIA_H100_80GB."""
MACHINE = re.compile(
    r"a[23]-(?:high|mega|ultra|edge)gpu-\d+g(?:-nolssd)?|a4x?-\w*gpu-\d+g(?:-nolssd)?"
    r"|g[24]-standard-\d+"
    r"|(?:ml\.)?(?:p[2-6](?:d|de|dn|e|en|-b\d00)?|g[56]e?|g4dn|gr6|g3s?)\.(?:\d*xlarge|metal)"
    r"|standard_n[cd]\w*\d\w*|(?:bm|vm)\.gpu\.?[\w.]+|gpu_\d+x_\w+",
    re.IGNORECASE,
)
"""A machine type with NVIDIA GPUs, of Google Cloud, AWS, Azure, Oracle or Lambda."""
GPU_WORD = re.compile(
    rf"(?:^|[^a-z0-9])(?:gpus?|cuda|nvidia|{_MODELS}|multi-?gpu)(?:$|[^a-z]|x\d)", re.IGNORECASE
)
"""A word that speaks of NVIDIA GPUs within a label: ``linux.g5.4xlarge.nvidia.gpu``."""
