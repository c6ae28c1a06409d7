"""The way in: a target becomes a ModelSpec."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tpu_audit.sources.adapter import with_base
from tpu_audit.sources.local import resolve_local
from tpu_audit.sources.options import ResolveOptions
from tpu_audit.sources.own import parse_factory, resolve_factory
from tpu_audit.sources.remote import resolve_remote
from tpu_audit.sources.target import TIMM_SCHEMES, LocalTarget, parse_target

if TYPE_CHECKING:
    from tpu_audit.types.model import ModelSpec

__all__ = ["ResolveOptions", "resolve"]


def resolve(target: str, options: ResolveOptions) -> ModelSpec:
    """Resolve a hub id with optional ``@revision``, a model folder, a config.json or a factory.

    A factory is a function of the user's own, ``file.py:function`` or ``module:function``; it is
    not run here. How paths are told from ids is said in :mod:`tpu_audit.sources.target`. No
    weights are fetched and no code of the model is run. An adapter is resolved with its base model.

    Raises UsageError for bad syntax, TargetNotFoundError for what does not exist, and
    NotAuditedError, with a stage and a stable code, for everything else.
    """
    factory = None if target.startswith(TIMM_SCHEMES) else parse_factory(target)
    if factory:
        return resolve_factory(target, *factory)
    spec = _resolve(target, options)
    return with_base(spec, lambda name, at: _resolve(name, replace(options, revision=at)))


def _resolve(target: str, options: ResolveOptions) -> ModelSpec:
    parsed = parse_target(target, options.revision)
    if isinstance(parsed, LocalTarget):
        return resolve_local(parsed)
    return resolve_remote(parsed, options)
