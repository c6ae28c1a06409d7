"""The checker's report as JSON: its own types, field for field, in a stable order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.render.json_report import dumps

if TYPE_CHECKING:
    from tpu_audit.render.check.view import CheckView
    from tpu_audit.types.check import CheckReport


class JsonRenderer:
    """One JSON object; ``findings`` are of the same shape as in a scan's report."""

    def render(self, report: CheckReport, view: CheckView) -> str:  # noqa: ARG002 - no terminal here
        """Return ``report`` as JSON text."""
        return dumps(report)
