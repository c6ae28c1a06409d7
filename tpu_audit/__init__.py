"""tpu-audit: what breaks, what is slow and what to change on the way from CUDA to TPU.

``tpu_audit.scan(targets)`` audits models from a program; see :mod:`tpu_audit.api`.
"""

from typing import TYPE_CHECKING, Any

from tpu_audit.version import __version__

if TYPE_CHECKING:
    from tpu_audit.api import ScanOptions, scan

__all__ = ["ScanOptions", "__version__", "scan"]


def __getattr__(name: str) -> Any:
    """Import the API when it is asked for: ``import tpu_audit`` alone stays cheap."""
    if name in {"ScanOptions", "scan"}:
        from tpu_audit import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
