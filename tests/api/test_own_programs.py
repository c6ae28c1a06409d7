"""What people train and serve goes from blocked to running with the reference kernels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tpu_audit.api.options import ScanOptions
from tpu_audit.api.scanner import scan
from tpu_audit.types.report import Report, Verdict

FILE = Path(__file__).parents[1] / "data" / "own" / "programs.py"
PROGRAMS = {
    "detection_loss": "aten.smooth_l1_loss",
    "antialiased_resize": "aten._upsample_bilinear2d_aa",
    "weighted_bags": "aten._embedding_bag_per_sample_weights_backward",
    "scaled_gradients": "aten._amp_foreach_non_finite_check_and_unscale_",
    "mish_in_place": "aten.mish_",
    "suppressed_boxes": "torchvision.nms",
}


def _scan(name: str, tmp_path: Path, *, kernels: bool) -> Report:
    options = ScanOptions(dtypes=("float32",), cache_dir=tmp_path)
    return scan([f"{FILE}:{name}"], options=replace(options, with_reference_kernels=kernels))


@pytest.mark.parametrize("name", PROGRAMS)
def test_blocked_without_the_kernels_and_not_with_them(name: str, tmp_path: Path) -> None:
    """A missing op blocks the program; with its reference kernel only warnings are left."""
    before = _scan(name, tmp_path, kernels=False)
    after = _scan(name, tmp_path, kernels=True)

    blocked, runs = before.models[0].phases[0], after.models[0].phases[0]
    assert (blocked.verdict, runs.verdict) == (Verdict.BLOCKED, Verdict.READY_WITH_WARNINGS)
    missing = {f.op for f in before.findings if f.code == "TPA901" and f.op}
    assert any(op.startswith(PROGRAMS[name]) for op in missing)
    named = [f for f in before.findings if f.code == "TPA901"]
    assert all("op_registry.reference.install(" in f.fix for f in named)
    assert {f.op for f in after.findings if f.code == "TPA925"} >= missing
