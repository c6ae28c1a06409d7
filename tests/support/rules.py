"""Rules made for tests."""

from __future__ import annotations

from typing import Any

from tpu_audit.rules.rule import Docs, Rule
from tpu_audit.types.report import Severity


def make(**changes: Any) -> Rule:
    """Return an empty rule."""
    given: dict[str, Any] = {
        "code": "TPA199",
        "name": "example",
        "severity": Severity.ERROR,
        "docs": Docs(what="", why="", example="", instead=""),
        "words": ("cuda",),
        "valid": (),
        "invalid": (),
    }
    return Rule(**{**given, **changes})
