"""One line a finding, as editors and other tools read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.render.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.render.check.view import CheckView
    from tpu_audit.types.check import CheckReport
    from tpu_audit.types.report import Finding


class ConciseRenderer:
    """Lines without colour, in the order of the files."""

    def render(self, report: CheckReport, view: CheckView) -> str:
        """Return the lines; nothing when there is nothing to say."""
        return "".join(f"{clean(line)}\n" for line in _lines(report, view))


def _lines(report: CheckReport, view: CheckView) -> Iterator[str]:
    for finding in report.findings:
        yield line_of(finding)
    if view.show_suppressed:
        for left in report.suppressed:
            yield f"{line_of(left.finding)} [ignored by {left.by}]"
    for unread in report.unread:
        place = unread.path if unread.line is None else f"{unread.path}:{unread.line}"
        yield f"{place}: could not read: {unread.reason}"


def line_of(finding: Finding) -> str:
    """Return ``path:line:column: CODE severity: message``."""
    where = finding.location
    place = f"{where.path}:{where.line}:{where.column}"
    return f"{place}: {finding.code} {finding.severity.value}: {finding.message}"
