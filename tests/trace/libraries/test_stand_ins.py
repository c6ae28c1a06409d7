"""A torchvision whose compiled ops do not load."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = """
import torch
for name in ("nms", "qnms"):
    @torch.library.register_fake(f"torchvision::{name}")
    def meta(dets, scores, iou_threshold):
        return scores
"""
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
try:
    import torchvision
except RuntimeError as error:
    print("fails:", "does not exist" in str(error))
from tpu_audit.trace.libraries.stand_ins import torchvision_ops
print("declared:", torchvision_ops() is not None)
import torchvision
print("loads")
"""


def test_its_import_works(tmp_path: Path) -> None:
    """With the ops declared, the import that failed before succeeds, in the same process."""
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text(BROKEN)
    (package / "_C.so").write_bytes(b"not a library")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split("\n")[:3] == ["fails: True", "declared: True", "loads"], done.stderr
