"""Placeholders and pixels are what the family's own processor makes of an image of that size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.processors import (
    IMAGE,
    NEED_TORCHVISION,
    PROCESSORS,
    count_placeholders,
)
from tests.trace.inputs.test_multimodal import FAMILIES

if TYPE_CHECKING:
    from tests.support.feeding import Feeder

pytest.importorskip("PIL", reason="processors of images need Pillow")


@pytest.mark.parametrize("family", sorted(PROCESSORS))
def test_as_the_processor(family: str, feed: Feeder) -> None:
    """As many placeholder tokens, and pixels of the same shape."""
    if family in NEED_TORCHVISION:
        pytest.importorskip("torchvision", reason="its processor needs torchvision")
    config, _ = FAMILIES[family]
    fed = feed(config)
    count, made = count_placeholders(family, *_image(config, fed.kwargs))

    assert fed.count(IMAGE) == count > 0
    assert tuple(fed.kwargs["pixel_values"]) == tuple(made["pixel_values"].shape)


def _image(config: dict[str, Any], kwargs: dict[str, Any]) -> tuple[int, int]:
    """Return the size of the image that the trace assumed, pixels."""
    if "image_grid_thw" in kwargs:
        patch = config["vision_config"]["patch_size"]
        _, rows, columns = kwargs["image_grid_thw"][0]
        return rows * patch, columns * patch
    if "image_sizes" in kwargs:
        height, width = kwargs["image_sizes"][0]
        return height, width
    height, width = kwargs["pixel_values"][-2:]
    return height, width
