"""timm models: images of the size that the pretrained config names."""

from __future__ import annotations

from typing import Any

from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs

_DEFAULT = (3, 224, 224)


def applies(ctx: InputContext) -> bool:
    """Tell whether timm made the model."""
    return ctx.spec.library == "timm"


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` images."""
    size = _input_size(ctx.config)
    main = next(iter(ctx.parameters))
    return Inputs(
        kwargs={main: Floats(shape=(ctx.settings.batch, *size))},
        assumptions=[f"image {'x'.join(map(str, size))} (pretrained_cfg)"],
    )


def _input_size(config: Any) -> tuple[int, ...]:
    """Return channels, height and width."""
    size = config.get("input_size") if hasattr(config, "get") else None
    if not isinstance(size, list | tuple) or len(size) != len(_DEFAULT):
        return _DEFAULT
    return tuple(size) if all(isinstance(n, int) and n > 0 for n in size) else _DEFAULT


BUILDER = Builder(name="timm", applies=applies, build=build)
