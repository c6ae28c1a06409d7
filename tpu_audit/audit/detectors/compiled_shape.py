"""TPA932: another size of the inputs is another program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.audit.code import Code
from tpu_audit.types.compiled import Change
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from tpu_audit.types.compiled import Recompile

CODE = Code(
    code="TPA932",
    name="compiled-each-shape",
    severity=Severity.INFO,
    summary="Inputs of another size compile the graph anew.",
    why=(
        "torch_tpu compiles with `dynamic=False`: each sequence length and each batch size that "
        "was not met before is another XLA program. Batches padded to their own longest sequence, "
        "and a last batch that is smaller, bring a new one again and again."
    ),
    fix=(
        'Pad sequences to a few fixed lengths (`padding="max_length"` or '
        "`pad_to_multiple_of=...`) and keep the batch size: drop or fill the last batch."
    ),
    references=("TORCH_LOGS=recompiles",),
)

_SIZES = frozenset({Change.SEQ_LEN, Change.BATCH})


def describe(found: Recompile) -> str | None:
    """Say which size compiles anew, and by which guard; None where it does not."""
    if found.change not in _SIZES or not found.anew:
        return None
    change = f"another {found.change.value} compiles anew ({found.was} to {found.now})"
    return change + (f": {found.guard}" if found.guard else "")
