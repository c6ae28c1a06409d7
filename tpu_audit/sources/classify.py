"""Which library a model belongs to, and which repositories hold nothing to trace.

Only transformers models (and sentence-transformers ones, which are transformers models with a
head) can be traced; every other kind is skipped with its own reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpu_audit.sources.selection import ADAPTER, CONFIG, PIPELINE, SENTENCE_MODULES
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 40
"""Characters shown of a value that is wrong."""
_TRANSFORMERS = frozenset({"transformers", "sentence-transformers"})


def refuse_without_config(
    model: str,
    files: Sequence[str],
    side: Mapping[str, Mapping[str, Any]],
    library_name: str | None,
) -> NotAuditedError:
    """Say what becomes of a repository or folder that has no config.json.

    ``side`` holds its pipeline and adapter configs, ``library_name`` is the hub's tag.
    """
    if PIPELINE in files:
        return skip_diffusers(model, side.get(PIPELINE, {}).get("_class_name"))
    if ADAPTER in files:
        return skip_adapter(model, side.get(ADAPTER, {}))
    weights = [name for name in files if name.endswith(".gguf")]
    if weights:
        return _skip(
            f"{model} holds only GGUF weights ({weights[0]}), which PyTorch does not run",
            code="gguf_only",
            hint="audit the repository that the GGUF files were made from",
        )
    if library_name is not None and library_name not in _TRANSFORMERS:
        return _skip_library(model, library_name, f"the hub files it under {library_name}")
    found = ", ".join(files[:5]) or "nothing"
    return NotAuditedError(
        f"{model} has no {CONFIG} (found: {found})",
        stage=Stage.CONFIG,
        code="no_config",
        hint=f"tpu-audit needs the transformers {CONFIG} of the model",
    )


def library_of(model: str, config: Mapping[str, Any], files: Sequence[str]) -> str:
    """Name the library that loads this config. Raises a skip where it is not traced."""
    if "peft_type" in config:
        raise skip_adapter(model, config)
    named = isinstance(config.get("model_type"), str) or bool(config.get("architectures"))
    if "_class_name" in config and ("_diffusers_version" in config or not named):
        raise skip_diffusers(model, config["_class_name"])
    if isinstance(config.get("architecture"), str) and "pretrained_cfg" in config:
        raise _skip_library(model, "timm", f"its config is timm's ({config['architecture']})")
    if SENTENCE_MODULES in files:
        return "sentence-transformers"
    return "transformers" if named or "auto_map" in config else "unknown"


def odd_fields(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Sentences on the fields that name the class, where they are not what they should be."""
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


def skip_diffusers(model: str, class_name: object) -> NotAuditedError:
    """Skip a diffusers pipeline, or one of its components."""
    named = f" ({class_name})" if isinstance(class_name, str) else ""
    return _skip_library(model, "diffusers", f"it is a diffusers pipeline or component{named}")


def skip_adapter(model: str, adapter: Mapping[str, Any]) -> NotAuditedError:
    """Skip a PEFT adapter: its base model is what runs."""
    base = adapter.get("base_model_name_or_path")
    named = isinstance(base, str) and bool(base)
    return _skip(
        f"{model} is a PEFT adapter" + (f" of {base}" if named else " that names no base model"),
        code="adapter_only",
        hint=f"audit its base model: {base}" if named else "audit its base model",
    )


def _skip_library(model: str, library: str, reason: str) -> NotAuditedError:
    return _skip(
        f"{model} was not traced: {reason}",
        code="unsupported_library",
        hint=f"this version traces transformers models only, not {library}",
    )


def _skip(message: str, *, code: str, hint: str) -> NotAuditedError:
    return NotAuditedError(message, stage=Stage.CONFIG, code=code, skipped=True, hint=hint)


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
