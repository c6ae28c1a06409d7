"""What a target resolves to: everything the tracer may know about a model, without weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_CLASS_KEYS = {"diffusers": "_class_name", "timm": "architecture"}
"""Library -> the config field that names the class; for the others ``architectures``."""


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
    """config.json as parsed (a JSON object). For an adapter, its base model's; for a pipeline,
    its ``model_index.json``; empty for a component whose config is not there."""
    components: tuple[ModelSpec, ...] = ()
    """What a diffusers pipeline computes with; such a spec is only its components."""
    component: str | None = None
    """For a component, its name in the pipeline: ``unet``, ``text_encoder_2``."""
    home: str | None = None
    """For a component, the package that holds its class where neither ``diffusers`` nor
    ``transformers`` itself does: ``stable_diffusion``."""
    siblings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For a component, the configs of all components of its pipeline: sizes follow from them."""
    adapter: Mapping[str, Any] | None = None
    """adapter_config.json of a PEFT adapter."""
    modules: tuple[Mapping[str, Any], ...] = ()
    """What sentence-transformers runs after the transformer, in order: ``type`` (class path) and
    ``config`` of each."""
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
        """The class to build, as far as the config names one.

        The first of ``architectures``; diffusers says ``_class_name``, timm ``architecture``.
        """
        key = _CLASS_KEYS.get(self.library)
        if key is not None:
            name = self.config.get(key)
            return name if isinstance(name, str) else None
        value = self.config.get("architectures")
        if isinstance(value, list) and value and isinstance(value[0], str):
            return value[0]
        return None

    @property
    def quantisation(self) -> str | None:
        """How the checkpoint's weights are quantised, None where they are not.

        The ``quant_method`` of the config; bitsandbytes is told by its own switches in old ones.
        """
        config = self.config.get("quantization_config")
        if not config:
            return None
        method = config.get("quant_method") if isinstance(config, Mapping) else None
        if isinstance(method, str) and method:
            return method
        old = isinstance(config, Mapping) and {"load_in_8bit", "load_in_4bit"} & set(config)
        return "bitsandbytes" if old else "unnamed"

    @property
    def needs_remote_code(self) -> bool:
        """The repository maps its classes to its own Python files (``auto_map``)."""
        return isinstance(self.config.get("auto_map"), dict)


def mapped_models(spec: ModelSpec) -> dict[str, str]:
    """Return auto class -> entry of ``auto_map``, for models, those with a head first."""
    mapping = spec.config.get("auto_map")
    entries = mapping.items() if isinstance(mapping, Mapping) else ()
    models = {k: v for k, v in entries if k.startswith("AutoModel") and class_name(v)}
    return dict(sorted(models.items(), key=lambda item: item[0] == "AutoModel"))


def runs_own_code(spec: ModelSpec) -> bool:
    """Whether loading ``spec`` with leave to do so would run the repository's code."""
    return spec.library not in _CLASS_KEYS and bool(mapped_models(spec))


def class_name(reference: object) -> str | None:
    """Return the class that an entry of ``auto_map`` names, or None.

    Entries are ``modeling_x.XModel`` or ``org/name--modeling_x.XModel``; those of tokenizers are
    lists, which name no model.
    """
    name = reference.rpartition(".")[2] if isinstance(reference, str) else ""
    return name if name.isidentifier() else None
