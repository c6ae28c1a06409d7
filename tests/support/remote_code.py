"""Small repositories with code of their own, in the styles of real ones, and what is in them."""

from __future__ import annotations

import csv
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.calls import tensor, use
from tpu_audit.types.errors import NotAuditedError, Stage
from tpu_audit.types.trace import Trace

if TYPE_CHECKING:
    from tests.support.fakehub import FakeHub
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.report import Finding
    from tpu_audit.types.trace import TraceSettings

FOLDER = Path(__file__).parents[1] / "data" / "remote_code"
"""In hub layout. ``expected.tsv`` there lists every finding, reviewed line by line."""
REPOSITORIES = tuple(
    path.parent.relative_to(FOLDER).as_posix() for path in sorted(FOLDER.glob("*/*/config.json"))
)
Place = tuple[str, int, int, str, str]
"""Path, line, column, code and severity."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One finding that must be there."""

    path: str
    line: int
    column: int
    code: str
    severity: str
    text: str
    """What stands at the place."""


def expected(repository: str) -> list[Expected]:
    """Return the findings that a repository must give, in the order of places."""
    with (FOLDER / "expected.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, "excel-tab", quoting=csv.QUOTE_NONE))[1:]
    return sorted(
        (
            Expected(path, int(line), int(column), code, severity, text)
            for name, path, line, column, code, severity, text in rows
            if name == repository
        ),
        key=lambda row: (row.path, row.line, row.column, row.code),
    )


def found(findings: tuple[Finding, ...]) -> list[Place]:
    """Return the findings in files, in the order of places."""
    return sorted(_place(finding) for finding in findings if finding.phase is None)


def _place(finding: Finding) -> Place:
    where = finding.location
    place = (where.path or "", where.line or 0, where.column or 0)
    return (*place, finding.code, finding.severity.value)


def local_copy(repository: str, folder: Path) -> Path:
    """Copy a repository to ``folder``, to be changed there."""
    return Path(shutil.copytree(FOLDER / repository, folder / repository))


def serve(hub: FakeHub, repository: str) -> None:
    """Put a repository on the hub."""
    local_copy(repository, hub.root)


def trace_native_alone(spec: ModelSpec, settings: TraceSettings, *_: object) -> tuple[Trace, ...]:
    """Stand in for the tracer: BERT has a class, of everything else only the repository knows."""
    name = spec.architecture or ""
    if not name.startswith("Bert"):
        raise NotAuditedError("own code", stage=Stage.BUILD, code="remote_code", skipped=True)
    linear = use("aten.linear.default", tensor(1, 8, dtype=settings.dtype))
    return (Trace(settings=settings, architecture=name, parameters=7, ops=(linear,)),)
