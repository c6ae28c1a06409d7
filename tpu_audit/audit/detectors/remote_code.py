"""TPA920: the repository brings its own model code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.audit.code import Code, Said
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from op_registry.schema import Snapshot
    from tpu_audit.types.model import ModelSpec

CODE = Code(
    code="TPA920",
    name="remote-code",
    severity=Severity.INFO,
    summary="The repository maps its classes to Python files of its own.",
    why=(
        "The audit traced the class of the same name in transformers and did not execute the "
        "repository's files. Loaded with `trust_remote_code=True`, other code runs, which may "
        "call other ops and CUDA packages. What reading those files shows is told by findings of "
        "their own."
    ),
    fix="Load without `trust_remote_code`: transformers has the class.",
)


def describe(spec: ModelSpec, _snapshot: Snapshot) -> Said | None:
    """Return what to say, or None when the repository brings no code."""
    if not spec.needs_remote_code:
        return None
    name = spec.architecture
    text = f"the repository has code of its own for {name}; traced was the class of transformers"
    return Said(severity=CODE.severity, message=text, fix=CODE.fix)
