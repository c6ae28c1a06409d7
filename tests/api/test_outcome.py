"""Questions that exit codes ask of a report."""

from __future__ import annotations

from tests.support.reports import failed_phase, missing_finding, model, phase, report, sync_finding
from tpu_audit.api import is_incomplete, worst
from tpu_audit.api.outcome import status
from tpu_audit.types.report import Severity, Status


def test_complete() -> None:
    """A report of traced phases is complete, whatever it found."""
    assert not is_incomplete(report())


def test_one_failed_dtype_is_incomplete() -> None:
    """A model traced in one dtype of two is not audited."""
    half = model(phases=(phase(), failed_phase(dtype="float16")))
    assert is_incomplete(report([model(), half]))


def test_skipped_is_incomplete() -> None:
    """What was skipped was not audited either."""
    assert is_incomplete(report([model(phases=(failed_phase(status=Status.SKIPPED),))]))


def test_status_is_the_worst() -> None:
    """Failed outranks skipped outranks traced; no phase at all is a failure."""
    skipped = failed_phase(status=Status.SKIPPED)
    assert status(model()) is Status.TRACED
    assert status(model(phases=(phase(), skipped))) is Status.SKIPPED
    assert status(model(phases=(skipped, failed_phase()))) is Status.FAILED
    assert status(model(phases=())) is Status.FAILED


def test_worst_severity() -> None:
    """The highest severity found, or None."""
    assert worst(report(findings=[sync_finding(), missing_finding()])) is Severity.ERROR
    assert worst(report(findings=[sync_finding()])) is Severity.WARNING
    assert worst(report(findings=[])) is None
