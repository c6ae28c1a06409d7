"""Traces small models of libraries other than transformers, in this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# Before torch is imported: an installed torch-tpu would take the device that is pretended here.
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

from tpu_audit.sources.resolve import ResolveOptions, resolve
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Trace, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from op_registry.schema import Snapshot


def specs(folder: Path, cache: Path) -> dict[str, ModelSpec]:
    """Resolve a folder: component -> its spec; a model that is no pipeline under ``""``."""
    spec = resolve(str(folder), ResolveOptions(cache_dir=cache, offline=True))
    return {part.component or "": part for part in spec.components or (spec,)}


def component(config: Mapping[str, Any], **fields: Any) -> ModelSpec:
    """Return the spec of a diffusers component with this config."""
    values: dict[str, Any] = {"target": "t", "id": "t", "revision": None, "config_source": "local"}
    return ModelSpec(**{**values, "library": "diffusers", "config": config, **fields})


def trace(spec: ModelSpec, snapshot: Snapshot, **settings: Any) -> Trace:
    """Trace the forward of ``spec``, at a batch of one."""
    from tpu_audit.trace.runner import run_trace

    return run_trace(spec, TraceSettings(**settings), snapshot)[0]


def ops(found: Trace) -> set[str]:
    """Return the names of the ops that were called."""
    return {use.op for use in found.ops}
