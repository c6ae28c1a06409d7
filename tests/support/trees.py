"""Small projects on disk for tests of the checker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HIT = "import torch\nx = torch.ones(3).cuda()\n"
"""Python with one finding: TPA103 at 2:19."""
CLEAN = "import torch\nx = torch.ones(3)\n"


def tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write ``files`` below ``folder`` and return it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
