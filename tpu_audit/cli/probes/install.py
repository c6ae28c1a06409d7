"""Versions and extras, read from the installed distributions without importing them."""

from __future__ import annotations

import platform
from importlib import metadata
from types import MappingProxyType
from typing import TYPE_CHECKING

from tpu_audit import __version__
from tpu_audit.cli.probes.check import Check, Health

if TYPE_CHECKING:
    from collections.abc import Mapping

DISTRIBUTIONS = (
    "torch",
    "transformers",
    "huggingface-hub",
    "diffusers",
    "peft",
    "timm",
    "torch-tpu",
    "libtpu",
    "jax",
    "jaxlib",
)

EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "scan": ("huggingface-hub", "scipy", "torch", "transformers"),
        "diffusers": ("diffusers",),
        "peft": ("peft",),
        "timm": ("timm",),
        "tpu": ("expecttest", "jax", "jaxlib", "libtpu", "torch-tpu"),
    }
)
"""Extra -> the distributions it brings, without those of an extra that it includes; a test holds
it against pyproject.toml."""


def versions() -> dict[str, str | None]:
    """Return the version of each distribution that matters; None when not installed."""
    own = {"tpu-audit": __version__, "python": platform.python_version()}
    return {**own, **{name: _version(name) for name in DISTRIBUTIONS}}


def check_extras() -> list[Check]:
    """Say for each extra what is missing; only ``scan`` is needed."""
    return [_check_extra(name, needed) for name, needed in EXTRAS.items()]


def _check_extra(extra: str, needed: tuple[str, ...]) -> Check:
    missing = [name for name in needed if _version(name) is None]
    name = f"extra {extra}"
    if not missing:
        return Check(name=name, health=Health.OK, detail="installed")
    return Check(
        name=name,
        health=Health.BROKEN if extra == "scan" else Health.INFO,
        detail=f"not installed: {', '.join(missing)}",
        hint=f'pip install "tpu-audit[{extra}]"',
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
