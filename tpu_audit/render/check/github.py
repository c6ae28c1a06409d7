"""Workflow commands that GitHub shows as annotations at the lines of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from tpu_audit.render.check.view import CheckView
    from tpu_audit.types.check import CheckReport
    from tpu_audit.types.report import Finding, Unread

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


class GithubRenderer:
    """One ``::error file=...::message`` line a finding."""

    def render(self, report: CheckReport, view: CheckView) -> str:  # noqa: ARG002 - no terminal here
        """Return the commands; nothing when there is nothing to annotate."""
        lines = [*map(_finding, report.findings), *map(_unread, report.unread)]
        return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding) -> str:
    where = finding.location
    message = f"{finding.message}\n{finding.fix}" if finding.fix else finding.message
    place = f"file={_property(where.path or '')},line={where.line},col={where.column}"
    level = _LEVELS[finding.severity]
    return f"::{level} {place},title={_property(finding.code)}::{_data(message)}"


def _unread(unread: Unread) -> str:
    line = f",line={unread.line}" if unread.line else ""
    text = _data(f"could not read: {unread.reason}")
    return f"::notice file={_property(unread.path)}{line},title=tpu-audit::{text}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
