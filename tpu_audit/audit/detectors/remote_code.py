"""TPA920: the repository brings its own model code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.audit.code import Code, Said
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
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
        "their own. With `--trust-remote-code` the audit runs that code, in a process without "
        "network, files or credentials, and traces what it builds."
    ),
    fix="Load without `trust_remote_code`: transformers has the class.",
)


_PIN = "Pin the revision that was traced: `scan org/name@COMMIT`, and the same when loading."


def describe(spec: ModelSpec, *, ran: bool = False) -> Said | None:
    """Return what to say, or None when the repository brings no code.

    ``ran`` tells that the user let that code run, so that it is what was traced.
    """
    if not spec.needs_remote_code:
        return None
    name = spec.architecture or "the model"
    if ran:
        text = f"the repository's own code for {name} was run, in a confined process, to trace it"
        return Said(severity=CODE.severity, message=text, fix=_PIN)
    text = f"the repository has code of its own for {name}; traced was the class of transformers"
    return Said(severity=CODE.severity, message=text, fix=CODE.fix)
