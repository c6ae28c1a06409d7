"""How large the images are that a model sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tpu_audit.trace.inputs.fields import as_int, find_int, own, sections, vision_section

if TYPE_CHECKING:
    from torch import nn

    from tpu_audit.trace.inputs.interface import InputContext

_CONFIG_NAMES = (
    "image_size",
    "img_size",
    "input_image_size",
    "input_size",
    "resolution",
    "max_img_size",
)
_PROCESSOR_NAMES = ("crop_size", "size")
_CHANNELS = ("num_channels", "in_channels", "in_chans", "image_channels", "num_input_channels")
_RGB = 3
_LONGEST = 1 << 16
"""Pixels: no side of an image is longer."""
_MULTIPLE = 32
"""Photographs scaled by their short side are cut to this multiple, as most strides divide it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageSize:
    """Pixels, and a few words on where they come from."""

    height: int
    width: int
    source: str

    def __str__(self) -> str:
        """Read ``224x224 (config)``: height first."""
        return f"{self.height}x{self.width} ({self.source})"


def image_size(ctx: InputContext, *, default: int = 224) -> ImageSize:
    """Choose the image size: the processor's, else the config's, else ``default`` squared.

    A model that checks sizes (its forward knows ``interpolate_pos_encoding``) gets the size in
    its config even where the processor disagrees: another one would be refused.
    """
    whole = "pixel_mask" in ctx.parameters  # a detector's backbone was trained on smaller images
    configured = _own_size(ctx) or config_size(ctx.config, backbone=not whole)
    processed = processor_size(ctx)
    strict = "interpolate_pos_encoding" in ctx.parameters
    if processed and not (strict and configured):
        return ImageSize(height=processed[0], width=processed[1], source="image processor")
    source = "config" if configured else "assumed: the config names none"
    height, width = (_whole_windows(ctx.config, n) for n in configured or (default, default))
    return ImageSize(height=height, width=width, source=source)


_TEXT_LINE = (48, 320)
"""Height and width of a line of text for recognisers: their convolutions fix the height."""


def _own_size(ctx: InputContext) -> tuple[int, int] | None:
    """Return the size that follows from other fields of the config, for a few models."""
    if ctx.model_type == "depth_pro":  # the smallest of its scaled copies must fill a patch
        side = int(ctx.config.patch_size / min(ctx.config.scaled_images_ratios))
        return side, side
    if ctx.model_type.startswith("pp_ocr") and ctx.model_type.endswith("_rec"):
        return _TEXT_LINE
    return _patched_size(ctx.model)


def _patched_size(model: nn.Module) -> tuple[int, int] | None:
    """Return the only size that timm's first layer lets pass, where one is inside."""
    for module in model.modules():
        size = parse_size(getattr(module, "img_size", None))
        if size and getattr(module, "strict_img_size", False):
            return size
    return None


def _whole_windows(config: Any, side: int) -> int:
    """Cut a side to whole windows of patches, for backbones that split the image so."""
    windows = find_int(config, "num_windows", default=1)
    block = windows * find_int(config, "patch_size", default=1) if windows > 1 else 1
    return max(block, side // block * block)


def tower_size(ctx: InputContext) -> ImageSize:
    """Return the size of a crop or tile, which the config tells: processors name whole images."""
    size = config_size(ctx.config)
    if size is None:
        return image_size(ctx)
    return ImageSize(height=size[0], width=size[1], source="config")


def config_size(config: Any, *, backbone: bool = True) -> tuple[int, int] | None:
    """Return (height, width) from the vision section, else from any other but a backbone's."""
    parts = [part for path, part in sections(config) if backbone or "backbone" not in path]
    for part in [vision_section(config), *parts] if backbone else parts:
        for name in _CONFIG_NAMES:
            size = parse_size(own(part, name))
            if size:
                return size
    return None


def processor_size(ctx: InputContext) -> tuple[int, int] | None:
    """Return (height, width) that the repository's image processor resizes or crops to."""
    for content in image_processors(ctx.spec.processor_configs):
        crops = bool(content.get("do_center_crop", "crop_size" in content))
        for name in _PROCESSOR_NAMES if crops else ("size",):
            size = parse_size(content.get(name))
            if size:
                return size
    return None


def image_processors(files: Mapping[str, Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the image processor settings in a repository's processor files."""
    for name in ("preprocessor_config.json", "processor_config.json"):
        content = files.get(name, {})
        nested = content.get("image_processor")
        if isinstance(nested, Mapping):
            yield nested
        yield content


def parse_size(value: Any) -> tuple[int, int] | None:
    """Read the many spellings of an image size: 224, [224, 224], {"height": ...}, ..."""
    if isinstance(value, Mapping):
        return _parse_mapping(value)
    if isinstance(value, list | tuple) and len(value) > 1:
        height, width = as_int(value[-2]), as_int(value[-1])
        return (height, width) if height and width else None
    side = as_int(value)
    return (side, side) if side else None


def _parse_mapping(value: Mapping[str, Any]) -> tuple[int, int] | None:
    height, width = as_int(value.get("height")), as_int(value.get("width"))
    if height and width:
        return height, width
    short, long = as_int(value.get("shortest_edge")), as_int(value.get("longest_edge"))
    if short and long and short < long <= 4 * short:  # detectors: keep the aspect, a 4:3 photograph
        return short, min(long, short * 4 // 3) // _MULTIPLE * _MULTIPLE
    if long and long > _LONGEST:
        return None  # some processors bound the area here, under the same names
    side = short or as_int(value.get("max_height")) or long
    return (side, side) if side else None


def channels(config: Any) -> int:
    """Return how many channels an image has."""
    for part in (vision_section(config), config):
        value = own(part, *_CHANNELS)
        if as_int(value):
            return as_int(value) or _RGB
    return find_int(config, *_CHANNELS, default=_RGB)
