"""Rules about the checker's own comments. Their pages are read by ``explain`` like any other."""

from __future__ import annotations

from tpu_audit.rules.rule import Docs, Rule
from tpu_audit.types.report import Severity

UNUSED_IGNORE = Rule(
    code="TPA001",
    name="unused-ignore",
    severity=Severity.WARNING,
    docs=Docs(
        what="A `tpu-audit: ignore[...]` comment that silences nothing.",
        why="It hides the next finding on its line, which nobody has judged.",
        example="x = x.to(device)  # tpu-audit: ignore[TPA101] needs the GPU build",
        instead="x = x.to(device)",
        fix_safety="Safe: `tpu-audit fix --write` takes the comment away.",
    ),
    words=("ignore",),
    valid=(),
    invalid=(),
)
BAD_IGNORE = Rule(
    code="TPA002",
    name="unclear-ignore",
    severity=Severity.WARNING,
    docs=Docs(
        what="A `tpu-audit: ignore` comment without codes, with a code that no rule has, or "
        "without a reason. One without a valid code silences nothing.",
        why="What it may silence, and until when, is for the next reader to guess.",
        example="x = x.cuda()  # tpu-audit: ignore",
        instead="x = x.cuda()  # tpu-audit: ignore[TPA103] this script is for the GPU cluster",
    ),
    words=("ignore",),
    valid=(),
    invalid=(),
)
OWN_RULES = (UNUSED_IGNORE, BAD_IGNORE)
