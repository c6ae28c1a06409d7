"""The key of a trace in the cache: everything that the trace can depend on, exactly.

Names, versions that wrote the file, and the texts of label maps are left out of the config because
no model computes with them; nothing else is, and numbers are never rounded or classed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tpu_audit.trace.codec import FORMAT
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

_NAMES = frozenset({"_name_or_path", "transformers_version", "_commit_hash"})
"""Config fields that say where a config came from; dropped where they hold a string, as they do
unless the config is broken."""


def trace_key(
    spec: ModelSpec, settings: TraceSettings, *, registry_digest: str, versions: Mapping[str, str]
) -> str:
    """Return the SHA-256, in hex, that names the trace of ``spec``, and what it compiles to.

    ``versions`` are those of the packages that trace: torch and transformers. Raises
    NotAuditedError (stage ``config``) for a config that nests deeper than JSON writers go.
    """
    try:
        content = _canonical(_content(spec, settings, registry_digest, versions))
    except (RecursionError, ValueError) as error:
        message = f"config.json cannot be written back as JSON: {error}"
        hint = "look for nesting hundreds of levels deep, or numbers of thousands of digits"
        raise NotAuditedError(message, stage=Stage.CONFIG, code="malformed", hint=hint) from error
    return hashlib.sha256(content).hexdigest()


def _content(
    spec: ModelSpec, settings: TraceSettings, registry_digest: str, versions: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "architecture": spec.architecture,
        "config": normalised(spec.config),
        "format": FORMAT,
        "generation": spec.generation_config,
        "library": spec.library,
        "adapter": spec.adapter,
        "component": (spec.component, spec.home),
        "code": _code(spec) if spec.needs_remote_code else {},
        "modules": spec.modules,
        "siblings": {name: normalised(config) for name, config in spec.siblings.items()},
        "processors": spec.processor_configs,
        "python": sys.version_info[:2],
        "registry": registry_digest,
        "settings": asdict(settings),
        "tracer": tracer_digest(),
        "versions": dict(versions),
    }


def _code(spec: ModelSpec) -> dict[str, str]:
    """Return file name -> hash of the code that is run, or read for what it derives from."""
    return {
        name: hashlib.sha256(Path(path).read_bytes()).hexdigest()
        for name, path in spec.code_files.items()
        if Path(path).is_file()
    }


def normalised(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``config`` without what cannot change a trace, at every depth."""
    return {
        name: _normalised_value(name, value)
        for name, value in config.items()
        if not (name in _NAMES and isinstance(value, str))
    }


def _normalised_value(name: str, value: Any) -> Any:
    if name in {"id2label", "label2id"} and isinstance(value, dict) and _plain_labels(value):
        return {"labels": len(value)}
    if isinstance(value, dict):
        return normalised(value)
    return value


def _plain_labels(labels: dict[str, Any]) -> bool:
    """Whether a label map is one that its count stands for: numbers to texts, or back.

    Any other may be refused when the config is loaded, so it is kept as it is.
    """
    numbers = {str(i) for i in range(len(labels))}
    by_number = labels.keys() == numbers and all(isinstance(v, str) for v in labels.values())
    return by_number or all(type(v) is int for v in labels.values())


def _canonical(content: object) -> bytes:
    """Return canonical JSON. NaN and infinities are written as Python does: unambiguously."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), default=dict).encode()


@functools.cache
def tracer_digest() -> str:
    """Return a hash over the tracer's own source: another tracer, quirk or input, another key."""
    digest = hashlib.sha256()
    for name, data in sorted(_sources(resources.files("tpu_audit.trace"), "")):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
