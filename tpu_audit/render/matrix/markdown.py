"""The matrix summed up in Markdown: counts, refusals, disagreements, random numbers."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from tpu_audit.render.matrix import counts
from tpu_audit.render.matrix.cells import refused_calls
from tpu_audit.render.matrix.page import made
from tpu_audit.render.text import clean
from tpu_audit.types.proof import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from op_registry.schema import Snapshot

_SPECIAL = re.compile(r"[|*_`\[\]\\]")
_LONGEST = 200
"""Characters of a message that a table cell has room for; ``registry show`` has the rest."""


def render(snapshot: Snapshot) -> str:
    """Return the summary; every text of the registry in it is escaped."""
    return f"""# {_text(snapshot.package)} {_text(snapshot.version)}: evidence by op and dtype

{_text(made(snapshot))}

## Native ops by dtype

`registered`: tried, and nothing beyond the dispatch table is proven. `refused`: by the kernel, or
by the compiler for every TPU asked. `untried`: no sample at this dtype.

{_by_dtype(snapshot)}
The strongest evidence of each native op, at whichever dtype:

{_table(("evidence", "ops"), counts.by_strongest(snapshot).items())}
## Reference kernels

{_table(("reference kernels", "ops"), counts.references(snapshot).items())}
## Refused

{_refused(snapshot)}
## Kernels that disagree with eager PyTorch

{_disagreements(snapshot)}
## Random numbers

Ops that draw them cannot be lowered without a device: registered is all that can be shown.

{", ".join(f"`{op}`" for op in counts.random_ops(snapshot)) or "None."}
"""


def _by_dtype(snapshot: Snapshot) -> str:
    found = counts.by_dtype(snapshot)
    rows = [(dtype, *numbers.values()) for dtype, numbers in found.items()]
    return _table(("dtype", *(stand.value for stand in Standing)), rows)


def _refused(snapshot: Snapshot) -> str:
    rows = [
        (record.op, text) for record in counts.native(snapshot) for text in refused_calls(record)
    ]
    return _table(("op", "refused"), rows) if rows else "None.\n"


def _disagreements(snapshot: Snapshot) -> str:
    rows = [
        (op, dtype, said.cause.value, said.samples, said.message)
        for op, dtype, said in counts.disagreements(snapshot)
    ]
    header = ("op", "dtype", "in", "samples", "how")
    return _table(header, rows) if rows else "None.\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    return _text(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")


def _text(text: str) -> str:
    """Return ``text`` on one line with nothing in it that Markdown or HTML would obey."""
    return _SPECIAL.sub(r"\\\g<0>", html.escape(clean(text), quote=False))
