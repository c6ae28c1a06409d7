"""The Python API: what the command line calls, and all that a program needs.

``scan(targets)`` returns a :class:`tpu_audit.types.report.Report`. Nothing here prints.
"""

from tpu_audit.api.options import Progress, ScanOptions
from tpu_audit.api.outcome import is_incomplete, worst
from tpu_audit.api.scanner import ScanInterrupted, scan

__all__ = ["Progress", "ScanInterrupted", "ScanOptions", "is_incomplete", "scan", "worst"]
