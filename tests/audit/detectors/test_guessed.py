"""TPA917: guesses are told."""

from __future__ import annotations

from tests.support.calls import audit, codes, finding, tensor, use
from tpu_audit.types.report import Severity


def test_a_guess_is_information() -> None:
    """The line whose value was guessed is named; the verdict's rule does the rest."""
    found = finding("TPA917", audit(use("aten.nonzero.default", tensor(4), guesses=2)))
    assert found.severity is Severity.INFO
    assert found.location.line == 7


def test_no_guess_no_finding() -> None:
    """Known values are not reported."""
    assert codes(audit(use("aten.nonzero.default", tensor(4)))) == set()
