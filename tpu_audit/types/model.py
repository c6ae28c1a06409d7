"""What a target resolves to: everything the tracer may know about a model, without weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpec:
    """A resolved model: its configs and where they came from. Picklable, no torch inside."""

    target: str
    """What the user typed."""
    id: str
    """Canonical hub id (after redirects), or the local path."""
    revision: str | None
    """Commit of the repository, or None for local folders."""
    config_source: str
    """``hub@<sha>``, ``cache@<sha>``, ``local`` or ``catalogue``."""
    library: str = "transformers"
    """Library that loads the model: ``transformers``, ``diffusers``, ``timm``, ``peft``,
    ``sentence-transformers``, ``python`` (a program of the user's own) or ``unknown``."""
    config: Mapping[str, Any]
    """config.json as parsed (a JSON object)."""
    generation_config: Mapping[str, Any] | None = None
    processor_configs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """File name (``preprocessor_config.json``) -> content."""
    files: tuple[str, ...] = ()
    """Names of the repository's files where known, sorted."""
    code_files: Mapping[str, str] = field(default_factory=dict)
    """``*.py`` file name -> local path of the fetched copy. Never executed."""
    text_files: Mapping[str, str] = field(default_factory=dict)
    """Configs, requirements, Dockerfiles, YAML: file name -> local path of the copy at hand."""
    unfetched: Mapping[str, str] = field(default_factory=dict)
    """Code and text files that the hub lists and did not give: file name -> why."""
    index_files: Mapping[str, str] = field(default_factory=dict)
    """``*.index.json`` file name -> local path: weight names and shards, no weights."""
    factory: tuple[str, str] | None = None
    """(file or module, function) that makes a program of the user's own; run in the tracer."""
    redirected_from: str | None = None
    """The id typed, when the hub answered under another one."""
    notes: tuple[str, ...] = ()
    """Sentences for the report: catalogue used, fields repaired, files skipped."""

    @property
    def model_type(self) -> str | None:
        """``model_type`` of the config, when it is a string."""
        value = self.config.get("model_type")
        return value if isinstance(value, str) else None

    @property
    def architecture(self) -> str | None:
        """First class name in ``architectures``, when there is one."""
        value = self.config.get("architectures")
        if isinstance(value, list) and value and isinstance(value[0], str):
            return value[0]
        return None

    @property
    def needs_remote_code(self) -> bool:
        """The repository maps its classes to its own Python files (``auto_map``)."""
        return isinstance(self.config.get("auto_map"), dict)
