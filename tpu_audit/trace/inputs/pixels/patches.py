"""Images cut to patches before the model: how many fit, and how a patch is laid out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tpu_audit.trace.inputs.fields import as_int, find_int, own, vision_section

SIDE = 448
"""Side of the image, pixels, for models that take any size: cut to whole blocks of patches."""
_PATCH = 14
_PATCH_NAMES = ("patch_size", "spatial_patch_size")
_MERGE_NAMES = (
    "spatial_merge_size",
    "merge_size",
    "merge_kernel_size",
    "pooling_kernel_size",
    "downsample_factor",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PatchGrid:
    """A square image in patches."""

    patch: int
    """Side of a patch, pixels."""
    rows: int
    """Patches in a row, and in a column."""

    @property
    def count(self) -> int:
        """Patches in the image."""
        return self.rows * self.rows

    @property
    def pixels(self) -> int:
        """Side of the image."""
        return self.rows * self.patch


def patch_size(config: Any) -> int:
    """Return the side of a patch in pixels."""
    value = as_int(own(vision_section(config), *_PATCH_NAMES))
    return value or find_int(config, *_PATCH_NAMES, default=_PATCH)


def merge_size(config: Any, default: int = 1) -> int:
    """Return how many patches, along one side, become one feature."""
    value = as_int(own(vision_section(config), *_MERGE_NAMES))
    return value or find_int(config, *_MERGE_NAMES, default=default)


def patch_grid(config: Any, *, merge: int | None = None, side: int = SIDE) -> PatchGrid:
    """Return the largest square of whole blocks (``merge`` x ``merge`` patches) within ``side``."""
    patch = patch_size(config)
    block = merge_size(config) if merge is None else merge
    return PatchGrid(patch=patch, rows=max(1, side // (patch * block)) * block)
