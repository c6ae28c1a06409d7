"""The exit code that a report earns."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.reports import failed_phase, missing_finding, model, phase, report
from tpu_audit import sources
from tpu_audit.cli.gate import Gate, exit_code
from tpu_audit.render.summary import INPUT_ERRORS
from tpu_audit.types.report import Finding, ModelReport, Severity, Status

DONE = model()
GATED = model(target="g", phases=(failed_phase(),))
HALF = model(target="h", phases=(phase(), failed_phase("timeout", dtype="float32")))
SKIPPED = model(target="s", phases=(failed_phase("gguf_only", status=Status.SKIPPED),))
ABSENT = model(target="n", phases=(failed_phase("not_found"),))
ERROR = missing_finding()
WARNING = missing_finding(severity=Severity.WARNING)
INFO = missing_finding(severity=Severity.INFO)


@pytest.mark.parametrize(
    ("models", "findings", "gate", "expected"),
    [
        ([DONE], [], Gate(fail_on="error"), 0),
        ([DONE], [WARNING, INFO], Gate(fail_on="error"), 0),
        ([DONE], [WARNING], Gate(fail_on="warning"), 1),
        ([DONE], [INFO], Gate(fail_on="info"), 1),
        ([DONE], [INFO], Gate(fail_on="warning"), 0),
        ([DONE], [ERROR], Gate(fail_on="never"), 0),
        ([DONE], [ERROR], Gate(fail_on="error"), 1),
        ([DONE], [ERROR], Gate(fail_on="error", exit_zero=True), 0),
        ([DONE, GATED], [], Gate(fail_on="error"), 3),
        ([HALF], [], Gate(fail_on="error"), 3),
        ([SKIPPED], [], Gate(fail_on="error"), 3),
        ([model(phases=())], [], Gate(fail_on="error"), 3),
        ([DONE, GATED], [ERROR], Gate(fail_on="error"), 3),
        ([DONE, GATED], [ERROR], Gate(fail_on="error", exit_zero=True), 3),
        ([DONE, GATED], [ERROR], Gate(fail_on="error", allow_incomplete=True), 1),
        ([DONE, GATED], [], Gate(fail_on="error", allow_incomplete=True), 0),
        ([DONE, ABSENT], [ERROR], Gate(fail_on="error"), 2),
        ([GATED, ABSENT], [], Gate(fail_on="error", allow_incomplete=True, exit_zero=True), 2),
    ],
)
def test_exit_code(
    models: list[ModelReport], findings: list[Finding], gate: Gate, expected: int
) -> None:
    """A wrong target outranks one not audited, which outranks findings; options lower their own."""
    assert exit_code(report(models, findings), gate) == expected


def test_input_errors_are_those_of_the_sources() -> None:
    """Every target that the sources do not find has a reason code that makes the exit code 2."""
    found = {
        keyword.value.value
        for path in Path(sources.__file__).parent.glob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "TargetNotFoundError"
        for keyword in call.keywords
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant)
    }

    assert "not_found" in found
    assert found | {"bad_target"} == INPUT_ERRORS
