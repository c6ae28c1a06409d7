"""TPA927 and TPA920: another class stands in, or the repository's own was run."""

from __future__ import annotations

from op_registry.schema import Support
from tests.support.calls import audit, codes, composite, finding, snapshot, tensor, use
from tpu_audit.types.report import Severity, Verdict

OWN = {"architectures": ["Own"], "auto_map": {"AutoModel": "m.Own"}}
WORD = "Own is code of the repository's own"
CALL = use("aten.relu.default", tensor(1, 2))


def test_a_stand_in_clears_nothing() -> None:
    """Calls that all have kernels leave the verdict unknown, with a warning that says why."""
    result = audit(CALL, config=OWN, stand_in=WORD)

    assert result.verdict is Verdict.UNKNOWN
    assert codes(result) == {"TPA927"}
    assert (finding("TPA927", result).severity, finding("TPA927", result).message) == (
        Severity.WARNING,
        WORD,
    )


def test_a_stand_in_convicts_nothing() -> None:
    """A call without a kernel is a finding, and the model's own class may not make it."""
    lacking = composite("aten.relu.default", Support.MISSING)
    result = audit(CALL, registry=snapshot(lacking), config=OWN, stand_in=WORD)

    assert result.verdict is Verdict.UNKNOWN
    assert codes(result) == {"TPA901", "TPA927"}


def test_the_same_class_is_judged() -> None:
    """Without a stand-in the native class of the same name is judged, and the code is noted."""
    result = audit(CALL, config=OWN)

    assert result.verdict is Verdict.READY
    assert "traced was the class of transformers" in finding("TPA920", result).message


def test_own_code_that_ran_is_judged() -> None:
    """The repository's own class counts like any other, and the report says that it ran."""
    result = audit(CALL, config=OWN, remote_code=True)

    assert result.verdict is Verdict.READY
    assert "was run" in finding("TPA920", result).message
