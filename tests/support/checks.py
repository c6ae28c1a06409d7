"""A check's report for tests of what shows it."""

from __future__ import annotations

from typing import Any

from tpu_audit.types.check import CauseGroup, CheckReport, Suppressed
from tpu_audit.types.report import Finding, Location, Severity, ToolInfo, Unread

MESSAGE = "`.cuda()` raises on a TPU: PyTorch is built without CUDA there"


def finding(**changes: Any) -> Finding:
    """Return a finding in a file."""
    values: dict[str, Any] = {
        "code": "TPA103",
        "severity": Severity.ERROR,
        "message": MESSAGE,
        "fix": "write `.to(device)`",
        "location": Location(path="a, b.py", line=2, column=19),
        "fixable": "safe",
    }
    return Finding(**{**values, **changes})


def cause(number: int = 0, **changes: Any) -> CauseGroup:
    """Return a group of findings."""
    values: dict[str, Any] = {
        "code": f"TPA{103 + number}",
        "name": "cuda-method",
        "severity": Severity.ERROR,
        "message": MESSAGE,
        "fix": "write `.to(device)`",
        "count": 4,
        "files": 2,
        "fixable": 4,
        "places": ("a.py:2:19", "a.py:3:1", "b.py:1:1", "b.py:9:1"),
    }
    return CauseGroup(**{**values, **changes})


def report(**changes: Any) -> CheckReport:
    """Return a report with a bit of everything."""
    info = finding(severity=Severity.INFO, code="TPA225", fixable=None)
    values: dict[str, Any] = {
        "tool": ToolInfo(version="0.1.0"),
        "paths": ("src",),
        "files": {"python": 3, "yaml": 1},
        "findings": (finding(), info),
        "causes": (cause(), cause(122, severity=Severity.INFO)),
        "suppressed": (Suppressed(finding=finding(), by="comment", reason="old cluster"),),
        "unread": (Unread(path="c.py", line=3, code="syntax", reason="not valid Python 3: x"),),
    }
    return CheckReport(**{**values, **changes})
