"""The result of checking files: findings with places, what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tpu_audit.types.report import Finding, Severity, ToolInfo, Unread

CHECK_SCHEMA = "tpu-audit/check/1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Suppressed:
    """A finding that somebody chose to leave out."""

    finding: Finding
    by: str
    """``comment`` or ``settings``."""
    reason: str = ""
    """What stands behind the comment."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CauseGroup:
    """Findings with one cause: all go away with the same kind of change."""

    code: str
    name: str
    severity: Severity
    message: str
    """Of the first of them."""
    fix: str
    count: int
    files: int
    fixable: int
    """How many of them ``tpu-audit fix --write`` repairs."""
    places: tuple[str, ...]
    """``path:line:column`` of each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckReport:
    """What ``check`` returns and its JSON report holds."""

    schema: str = CHECK_SCHEMA
    tool: ToolInfo
    paths: tuple[str, ...]
    """What was asked for."""
    files: Mapping[str, int]
    """Files looked at, by kind."""
    findings: tuple[Finding, ...] = ()
    causes: tuple[CauseGroup, ...] = ()
    """The same findings grouped, what to do first in front."""
    suppressed: tuple[Suppressed, ...] = ()
    unread: tuple[Unread, ...] = ()
    notes: tuple[str, ...] = ()
