"""Verdicts, severities and statuses as words and colours."""

from __future__ import annotations

from op_registry.schema import Support
from tpu_audit.render.text import plural
from tpu_audit.types.report import PhaseReport, Severity, Status, Verdict

VERDICTS = {
    Verdict.READY: ("READY", "bold green"),
    Verdict.READY_WITH_WARNINGS: ("READY WITH WARNINGS", "bold yellow"),
    Verdict.BLOCKED: ("BLOCKED", "bold red"),
    Verdict.UNKNOWN: ("UNKNOWN", "bold magenta"),
}
SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
SUPPORT_STYLES = {
    Support.NATIVE: "green",
    Support.MISSING: "red",
    Support.REJECTED: "red",
    Support.UNKNOWN: "magenta",
}


def title(phase: PhaseReport) -> str:
    """Return what was traced: ``forward bfloat16``, of a pipeline ``unet: forward bfloat16``."""
    component = f"{phase.component}: " if phase.component else ""
    return f"{component}{phase.phase} {phase.dtype}"


def outcome(phase: PhaseReport) -> tuple[str, str]:
    """Return the verdict of a traced phase, or what became of it, with its style."""
    if phase.status is Status.TRACED:
        return VERDICTS[phase.verdict]
    if phase.verdict is Verdict.BLOCKED:
        return (f"BLOCKED BY ITS FILES (ops not audited: {phase.status.value})", "bold red")
    return (f"NOT AUDITED ({phase.status.value})", "bold magenta")


def failure(phase: PhaseReport) -> str:
    """Return where and why a phase stopped, in one sentence."""
    where = f"{phase.status.value} at {phase.stage or 'an unknown stage'}"
    slug = f" ({phase.reason_code})" if phase.reason_code else ""
    return f"{where}{slug}: {phase.reason or 'no reason was recorded'}"


def tally(counts: dict[Severity, int]) -> str:
    """Return ``1 error, 2 warnings, 5 info``; zeros are left out."""
    words = {
        Severity.ERROR: plural(counts[Severity.ERROR], "error"),
        Severity.WARNING: plural(counts[Severity.WARNING], "warning"),
        Severity.INFO: f"{counts[Severity.INFO]:,} info",
    }
    return ", ".join(words[severity] for severity in words if counts[severity]) or "none"
