"""Configs to trace a class with: real ones first, then the library's default, mended."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tests.census.default_configs import default_config
from tests.census.shrink import shrink
from tpu_audit.sources.local import resolve_local
from tpu_audit.sources.target import LocalTarget
from tpu_audit.types.errors import TpuAuditError
from tpu_audit.types.model import ModelSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.census.auto_classes import AutoClass
    from tests.census.hub_index import HubIndex

_REAL = 2
"""Real configs to try: some in a folder may be broken, or of other classes of the type."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A config for a class, and the dtype to build it in."""

    spec: ModelSpec
    source: str
    dtype: str = "bfloat16"


def candidates(one: AutoClass, hub: HubIndex) -> Iterator[Candidate]:
    """Yield real configs, then the default one; each with few layers, the default also whole.

    Some classes compute with what bfloat16 has no kernel for: the last try is in float32.
    """
    for path in hub.paths(one.name, one.model_type)[:_REAL]:
        spec = _real(path, one.name)
        if spec is not None:
            yield Candidate(spec=_shrunk(spec), source=hub.name(path))
    content = default_config(one)
    if content is not None:
        spec = _spec({**content, "architectures": [one.name]})
        yield Candidate(spec=_shrunk(spec), source="default")
        yield Candidate(spec=_shrunk(spec), source="default, float32", dtype="float32")
        yield Candidate(spec=spec, source="default, all layers")


def _real(path: Path, name: str) -> ModelSpec | None:
    """Return the model of a config, as the class ``name``; None where it has no usable config."""
    try:
        spec = resolve_local(LocalTarget(text=str(path), path=path))
    except TpuAuditError:
        return None
    if spec.library != "transformers":
        return None
    content = {k: v for k, v in spec.config.items() if k != "auto_map"}
    return replace(spec, config={**content, "architectures": [name]})


def _spec(content: dict[str, Any]) -> ModelSpec:
    return ModelSpec(
        target="default",
        id="default",
        revision=None,
        config_source="default",
        config=json.loads(json.dumps(content, default=str)),
    )


def _shrunk(spec: ModelSpec) -> ModelSpec:
    return replace(spec, config=shrink(dict(spec.config)))
