"""Which library a model belongs to, and which repositories hold nothing to trace.

Models of transformers, sentence-transformers, diffusers and timm, and PEFT adapters, can be traced;
every other kind is skipped with its own reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpu_audit.sources.selection import ADAPTER, CONFIG, PIPELINE, SENTENCE_MODULES
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 40
"""Characters shown of a value that is wrong."""
_TRACED = frozenset({"transformers", "sentence-transformers", "diffusers", "timm", "peft"})

ON_THE_HOST = (
    "Scheduler",
    "Tokenizer",
    "TokenizerFast",
    "Processor",
    "ImageProcessorFast",
    "FeatureExtractor",
    "Guider",
    "Watermarker",
)
"""How the names of classes end that compute nothing on the device."""


def refuse_without_config(
    model: str, files: Sequence[str], library_name: str | None
) -> NotAuditedError:
    """Say what becomes of a repository or folder that has no config.json.

    ``library_name`` is the hub's tag.
    """
    if ADAPTER in files:
        return _broken(model, ADAPTER)
    weights = [name for name in files if name.endswith(".gguf")]
    if weights:
        return _skip(
            f"{model} holds only GGUF weights ({weights[0]}), which PyTorch does not run",
            code="gguf_only",
            hint="audit the repository that the GGUF files were made from",
        )
    if library_name is not None and library_name not in _TRACED:
        return _skip_library(model, library_name, f"the hub files it under {library_name}")
    found = ", ".join(files[:5]) or "nothing"
    return NotAuditedError(
        f"{model} has no {CONFIG} (found: {found})",
        stage=Stage.CONFIG,
        code="no_config",
        hint=f"tpu-audit needs the transformers {CONFIG} of the model",
    )


def refuse_pipeline(model: str, *, broken: bool) -> NotAuditedError:
    """Say why a pipeline's index gives nothing to trace: ``broken``, or without components."""
    if broken:
        return _broken(model, PIPELINE)
    return _skip(
        f"{model} is a diffusers pipeline whose {PIPELINE} names no model",
        code="no_model",
        hint="audit the repository that holds its models",
    )


def library_of(model: str, config: Mapping[str, Any], files: Sequence[str]) -> str:
    """Name the library that loads this config. Raises a skip where there is nothing to trace."""
    named = isinstance(config.get("model_type"), str) or bool(config.get("architectures"))
    if "_class_name" in config and ("_diffusers_version" in config or not named):
        return _diffusers(model, config["_class_name"])
    if _is_timm(config):
        return "timm"
    if SENTENCE_MODULES in files:
        return "sentence-transformers"
    return "transformers" if named or "auto_map" in config else "unknown"


def _is_timm(config: Mapping[str, Any]) -> bool:
    ours = "pretrained_cfg" in config or config.get("library_name") == "timm"
    return isinstance(config.get("architecture"), str) and "model_type" not in config and ours


def _diffusers(model: str, class_name: object) -> str:
    if isinstance(class_name, str) and class_name.endswith(ON_THE_HOST):
        raise _skip(
            f"{model} is the config of a {class_name}, which computes nothing on the device",
            code="no_model",
            hint="give the config of a model",
        )
    return "diffusers"


def odd_fields(config: Mapping[str, Any], library: str) -> tuple[str, ...]:
    """Sentences on the fields that name the class, where they are not what they should be."""
    if library in {"diffusers", "timm"}:
        return ()
    notes = []
    for key, kind, words in (("model_type", str, "a string"), ("auto_map", dict, "an object")):
        value = config.get(key)
        if value is not None and not isinstance(value, kind):
            notes.append(f"{key} is {_short(value)}, not {words}: ignored")
    names = config.get("architectures")
    if names is not None and not _is_names(names):
        notes.append(f"architectures is {_short(names)}, not a list of class names")
    if not config.get("model_type") and not names:
        notes.append(f"{CONFIG} names neither model_type nor architectures")
    return tuple(notes)


def _broken(model: str, name: str) -> NotAuditedError:
    return NotAuditedError(
        f"{name} of {model} cannot be used: it is not a JSON object",
        stage=Stage.CONFIG,
        code="malformed_config",
        hint="give a repaired copy",
    )


def _skip_library(model: str, library: str, reason: str) -> NotAuditedError:
    return _skip(
        f"{model} was not traced: {reason}",
        code="unsupported_library",
        hint=f"this version does not trace models of {library}",
    )


def _skip(message: str, *, code: str, hint: str) -> NotAuditedError:
    return NotAuditedError(message, stage=Stage.CONFIG, code=code, skipped=True, hint=hint)


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
