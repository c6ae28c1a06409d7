"""Puts a model into the state that it trains in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpu_audit.types.errors import NotAuditedError, Stage, shorten

if TYPE_CHECKING:
    from torch import nn

    from tpu_audit.trace.phases.interface import Subject

_LAYER_DROP = ("layerdrop", "encoder_layerdrop", "decoder_layerdrop", "layer_drop")


def enter_train_mode(subject: Subject) -> None:
    """Switch to train mode, with every layer in use, no cache, and checkpointing if asked for."""
    model = subject.model
    model.train()
    dropped = [_keep_layers(thing) for thing in _settings_of(model)]
    if any(dropped):
        subject.assumptions.append("layerdrop 0: a step of training may skip layers at random")
    if getattr(subject.config, "use_cache", None) is True:
        subject.config.use_cache = False
        subject.assumptions.append("use_cache off, as transformers' Trainer sets it")
    if subject.settings.checkpointing:
        _checkpoint(model)


def _settings_of(model: nn.Module) -> list[Any]:
    """Return modules and their configs: both may hold the rate at which layers are skipped."""
    found: dict[int, Any] = {}
    for module in model.modules():
        found[id(module)] = module
        config = getattr(module, "config", None)
        if config is not None:
            found[id(config)] = config
    return list(found.values())


def _keep_layers(thing: Any) -> bool:
    changed = False
    for name in _LAYER_DROP:
        rate = vars(thing).get(name) if hasattr(thing, "__dict__") else None
        if isinstance(rate, float) and rate:
            setattr(thing, name, 0.0)
            changed = True
    return changed


def _checkpoint(model: Any) -> None:
    name = type(model).__name__
    enable = getattr(model, "gradient_checkpointing_enable", None)
    if enable is None or not getattr(model, "supports_gradient_checkpointing", False):
        raise _cannot(f"{name} does not support activation checkpointing")
    try:
        enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    except ValueError as error:
        message = f"{name} does not support activation checkpointing: {shorten(error)}"
        raise _cannot(message) from error


def _cannot(message: str) -> NotAuditedError:
    return NotAuditedError(
        message,
        stage=Stage.BUILD,
        code="no_checkpointing",
        skipped=True,
        hint="trace training without --checkpointing",
    )
