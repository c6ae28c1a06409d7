"""The checker over a model's own files: what it finds there and what that means for the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.audit.own_code.weigh import OwnCode
from tpu_audit.types.model import runs_own_code
from tpu_audit.types.report import CodeCheck, Finding, Location, Severity, Unread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tpu_audit.api.options import ScanOptions
    from tpu_audit.check.result import Item
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.report import PhaseReport

_NOT_EXECUTED = "remote_code"
"""Reason code of a phase whose class only the repository's own code has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedCode:
    """What the checker says of one model's files."""

    code: CodeCheck
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences on the run: a cache that cannot be written."""


def check_code(
    spec: ModelSpec, phases: Iterable[PhaseReport], options: ScanOptions
) -> CheckedCode | None:
    """Check the code and configs of ``spec``; None for a program of the user's own.

    ``phases`` tell whether transformers has the model's class. Nothing is run or imported.
    Raises UsageError for a rule to ignore that does not exist.
    """
    if spec.factory is not None:
        return None
    from tpu_audit.check.repository import check_repository  # not without models

    native = not (_is_own(phases) or (options.trust_remote_code and runs_own_code(spec)))
    own = OwnCode(spec, native=native)
    found = check_repository(
        {**spec.code_files, **spec.text_files},
        ignore=options.ignore,
        cache_dir=options.cache_dir,
        reuse=options.use_cache,
    )
    code = CodeCheck(
        files=dict(sorted(found.kinds.items())),
        loaded=own.loaded,
        runs=not native,
        suppressed=found.suppressed,
        unread=(*found.unread, *_not_at_hand(spec, own)),
    )
    findings = own.weigh(_finding(spec, name, item) for name, item in found.items)
    return CheckedCode(code=code, findings=findings, notes=found.notes)


def _is_own(phases: Iterable[PhaseReport]) -> bool:
    """Whether only the repository's code has the model's class, traced or not."""
    return any(phase.reason_code == _NOT_EXECUTED or phase.stand_in for phase in phases)


def _not_at_hand(spec: ModelSpec, own: OwnCode) -> Iterator[Unread]:
    """Yield records of files that were wanted and are not here."""
    for name, why in spec.unfetched.items():
        yield Unread(path=name, code="not_fetched", reason=f"could not be fetched: {why}")
    for name in own.missing():
        if name not in spec.unfetched:
            reason = "named by the config, and not among the files at hand"
            yield Unread(path=name, code="missing", reason=reason)
    for repository in own.entries.elsewhere:
        reason = "another repository that the config takes code from: not looked at"
        yield Unread(path=repository, code="elsewhere", reason=reason)


def _finding(spec: ModelSpec, name: str, item: Item) -> Finding:
    return Finding(
        code=item.code,
        severity=Severity(item.severity),
        message=item.message,
        fix=item.advice,
        model=spec.id,
        location=Location(path=name, line=item.line, column=item.column),
        cause=item.cause,
        fixable=item.fixable,
    )
