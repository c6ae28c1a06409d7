"""A small registry with evidence of every kind, for the views of registries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.codec import encode
from op_registry.evidence import Cause, Refusal
from op_registry.schema import Hazard, Support
from tests.support.calls import proofs, record, snapshot, tally

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = "op_registry.reference.kernels.median.median"
OVERFLOWS = "result 0: 255 where eager PyTorch has <inf> & more"
NOTHING = tally(0, 0)
REFUSED = proofs(
    lowered=tally(0, 4, (Cause.REJECTED, "sort(): complex has no order", 4)),
    compiled={},
    numerics=NOTHING,
)
SORT = record(
    "aten.sort.default",
    dtypes={
        "float32": proofs(gradient=tally(2, 2)),
        "bfloat16": proofs(compiled={}, numerics=NOTHING),
        "float64": proofs(emulated={"v6e": "f64"}),
        "int64": proofs(
            compiled={"v6e": tally(0, 2, (Cause.SKEW, "vhlo.composite_v2", 2))}, numerics=NOTHING
        ),
        "bool": proofs(numerics=tally(2, 3, (Cause.VALUES, OVERFLOWS, 1))),
        "complex64": REFUSED,
    },
    refusals=(
        Refusal(message="descending: not yet", when={"descending": True}, dtypes=("int32",)),
    ),
    reference="torch._refs.sort",
    reference_checks={"float32": "12/12"},
)
RAND = record("aten.rand.default", random=True)
COPY = record("aten.copy.default", hazards={Hazard.HOST_SYNC: "reads"})
MEDIAN = record(
    "aten.median.default",
    Support.MISSING,
    reference=KERNEL,
    reference_checks={"float32": "9/9", "bfloat16": "9/9"},
)
GONE = record("aten.gone.default", Support.MISSING)
VERIFIED = snapshot(SORT, RAND, COPY, MEDIAN, GONE)


def written(folder: Path) -> str:
    """Write the registry into ``folder`` and return its path."""
    path = folder / "verified.json"
    path.write_bytes(encode(VERIFIED))
    return str(path)
