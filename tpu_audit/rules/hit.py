"""What a rule yields: one place, what happens there on a TPU, and what to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from tpu_audit.rules.edits import Fix
from tpu_audit.types.report import Severity


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Span:
    """A stretch of a file, its end exclusive.

    Lines and columns count from 1, columns in Unicode code points.
    """

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One occurrence of a rule's pattern."""

    span: Span
    message: str
    """What happens here on a TPU: one sentence that names the thing found."""
    advice: str
    """What to write or do instead: one sentence."""
    fix: Fix | None = None
    severity: Severity | None = None
    """Where it differs from the rule's own, before the context lowers it."""
    cause: str = ""
    """Key by which a report groups hits of one rule; the message, where empty."""
    anchor: object = field(default=None, compare=False, repr=False)
    """The syntax node that reachability and context are judged at; set by `Module.hit`."""
