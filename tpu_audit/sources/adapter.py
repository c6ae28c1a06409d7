"""PEFT adapters: what runs is the base model with the adapter's modules in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tpu_audit.types.errors import NotAuditedError, Stage, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from tpu_audit.types.model import ModelSpec

_HINT = "give the adapter's base model in a local folder, named by base_model_name_or_path"


def base_of(spec: ModelSpec) -> tuple[str, str | None]:
    """Return the id or path of the base model and the revision of it that the adapter asks for.

    Raises NotAuditedError when the adapter names none.
    """
    adapter: Mapping[str, Any] = spec.adapter or {}
    base, revision = adapter.get("base_model_name_or_path"), adapter.get("revision")
    if not isinstance(base, str) or not base:
        raise NotAuditedError(
            f"{spec.id} is a PEFT adapter that names no base model",
            stage=Stage.CONFIG,
            code="adapter_only",
            skipped=True,
            hint="set base_model_name_or_path in adapter_config.json",
        )
    return base, revision if isinstance(revision, str) and revision else None


def with_base(spec: ModelSpec, resolve: Callable[[str, str | None], ModelSpec]) -> ModelSpec:
    """Return ``spec`` with what its base model resolves to; ``resolve`` takes id and revision.

    A spec that is no adapter, or that has a config already, is returned as it is. Raises
    NotAuditedError with code ``base_unresolved`` or ``base_unsupported``.
    """
    if spec.adapter is None or spec.config:
        return spec
    name, revision = base_of(spec)
    try:
        base = resolve(name, revision)
    except (NotAuditedError, UsageError) as error:
        raise NotAuditedError(
            f"{spec.id} is a PEFT adapter of {name}, which did not resolve: {error.message}",
            stage=Stage.RESOLVE,
            code="base_unresolved",
            hint=error.hint or _HINT,
        ) from error
    if base.adapter is not None or base.components:
        raise NotAuditedError(
            f"{spec.id} is a PEFT adapter of {name}, which is not a single model",
            stage=Stage.CONFIG,
            code="base_unsupported",
            skipped=True,
            hint="audit the base model, or merge the adapter below it first",
        )
    return _joined(spec, base, name)


def _joined(spec: ModelSpec, base: ModelSpec, name: str) -> ModelSpec:
    note = f"adapter of {name}, whose config came from {base.config_source}"
    return replace(
        base,
        target=spec.target,
        id=spec.id,
        revision=spec.revision,
        config_source=spec.config_source,
        library="peft",
        adapter=spec.adapter,
        redirected_from=spec.redirected_from,
        notes=(*spec.notes, note, *base.notes),
    )
