"""Rules about the checker's own comments. Their pages are read by ``explain`` like any other."""

from __future__ import annotations

from tpu_audit.rules.rule import Case, Docs, Rule
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
    valid=(
        Case("import torch\nx = y.cuda()  # tpu-audit: ignore[TPA103] the GPU cluster's script\n"),
        Case('s = "# tpu-audit: ignore[TPA103] a text"\n'),
    ),
    invalid=(
        Case("x = 1  # tpu-audit: ignore[TPA103] why\n", lines=(1,), fixed="x = 1\n"),
        Case(
            "a: 1\n# tpu-audit: ignore[TPA8] why\nb: 2\n",
            filename="a.yaml",
            lines=(2,),
            fixed="a: 1\nb: 2\n",
        ),
    ),
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
    valid=(Case("x = y.cuda()  # tpu-audit: ignore[TPA103] the GPU cluster's script\n"),),
    invalid=(
        Case("x = 1  # tpu-audit: ignore\n", lines=(1,)),
        Case("x = 1  # tpu-audit: ignore[TPA999] why\n", lines=(1,)),
        Case("x = y.cuda()  # tpu-audit: ignore[TPA103]\n", lines=(1,)),
    ),
)
OWN_RULES = (UNUSED_IGNORE, BAD_IGNORE)
