"""Builds the model class on the pretended device, from its config alone."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from tpu_audit.trace import shadow
from tpu_audit.trace.nearest import native_class, nearest, stand_in
from tpu_audit.trace.repository import repository_class
from tpu_audit.trace.transformers_api import dtype_argument, no_init_weights
from tpu_audit.types.errors import NotAuditedError, Stage, shorten

if TYPE_CHECKING:
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

_FLASH_PACKAGES = ("flash_attention", "flex_attention", "kernels-community")


def build_model(
    spec: ModelSpec, settings: TraceSettings, device: str
) -> tuple[nn.Module, Any, list[str]]:
    """Build the class named in ``architectures``; (model in eval mode, its config, assumptions).

    Raises NotAuditedError at stage ``config`` or ``build``.
    """
    assumptions: list[str] = []
    if settings.remote_code:
        own = repository_class(spec, assumptions)
        model_class, config = own.model, make_config(spec, own.model, assumptions, own.config)
    else:
        model_class = find_class(spec, assumptions)
        config = make_config(spec, model_class, assumptions)
    _choose_kernels(config, settings)
    try:
        model = _instantiate(model_class, config, getattr(torch, settings.dtype), device)
    except NotAuditedError:
        raise
    except Exception as error:
        raise NotAuditedError(
            f"{model_class.__name__} cannot be built from this config: {shorten(error)}",
            stage=Stage.BUILD,
            code=_build_code(error),
            hint="check that config.json loads with transformers' AutoConfig",
        ) from error
    model, config = _part_with_forward(model, config, assumptions)
    model.eval()
    move_and_forget(model, device)
    return model, config, assumptions


def find_class(spec: ModelSpec, assumptions: list[str]) -> Any:
    """Find the model class in the installed transformers; never in the repository's own code.

    For a class that only that code has, it is the nearest native one, if something says which.
    """
    import transformers

    name = spec.architecture
    found = native_class(name)
    if found is not None and _is_model(found):
        return found
    if spec.needs_remote_code:
        return _nearest_class(spec, assumptions)
    if name is None:
        return _base_class(spec, assumptions)
    raise NotAuditedError(
        f"transformers {transformers.__version__} has no class {name}",
        stage=Stage.BUILD,
        code="unknown_architecture",
        hint="check the spelling of `architectures`, or install the transformers that has it",
    )


def _nearest_class(spec: ModelSpec, assumptions: list[str]) -> Any:
    found = nearest(spec)
    if found is None:
        raise NotAuditedError(
            f"{spec.architecture or 'the model'} lives in the repository's own code, which is not "
            "executed, and nothing says which class of transformers is near to it",
            stage=Stage.BUILD,
            code="remote_code",
            skipped=True,
            hint="read that code, then let it run confined with --trust-remote-code; or look for a "
            "transformers-native checkpoint of the same architecture",
        )
    if found.same:
        name = found.model_class.__name__
        assumptions.append(f"{spec.architecture} is called {name} in transformers: traced that one")
    elif sentence := stand_in(spec):
        assumptions.append(sentence)
    return found.model_class


def _is_model(found: type) -> bool:
    try:
        return hasattr(found, "config_class")
    except ImportError as error:  # a placeholder that says which package the class needs
        raise NotAuditedError(
            f"{found.__name__} needs a package that is not installed: {shorten(error)}",
            stage=Stage.BUILD,
            code="missing_dependency",
            hint="install the package it names",
        ) from error


def _base_class(spec: ModelSpec, assumptions: list[str]) -> Any:
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    names = MODEL_MAPPING_NAMES.get(spec.model_type or "")
    if names is None:
        raise NotAuditedError(
            "config.json names no `architectures` and its model_type "
            f"{spec.config.get('model_type')!r} is none that transformers has",
            stage=Stage.BUILD,
            code="unknown_model_type",
            hint="add `architectures` to config.json",
        )
    name = names if isinstance(names, str) else names[0]
    assumptions.append(f"config names no architecture: traced the base model {name}")
    return getattr(transformers, name)


def make_config(
    spec: ModelSpec, model_class: Any, assumptions: list[str], config_class: Any = None
) -> Any:
    """Turn config.json into the config object that ``model_class`` takes.

    ``config_class`` reads it, if given; else the one that transformers has for its model_type.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    content = copy.deepcopy(dict(spec.config))
    content.pop("quantization_config", None)  # loaders of quantised weights are not traced
    if spec.config.get("quantization_config"):
        assumptions.append("quantization_config ignored: traced as an unquantised model")
    model_type = spec.model_type
    wanted = model_class.config_class
    try:
        if config_class is not None:
            config = config_class.from_dict(content)
        elif model_type is not None and model_type in CONFIG_MAPPING:
            config = CONFIG_MAPPING[model_type].from_dict(content)
        else:
            config = wanted.from_dict(content)
        config = _fitting(config, wanted, content, assumptions)
    except Exception as error:
        raise NotAuditedError(
            f"transformers rejects this config: {shorten(error)}",
            stage=Stage.CONFIG,
            code="invalid_config",
            hint="load it with transformers' AutoConfig and correct the field it names",
        ) from error
    _plain_attention(config, assumptions)
    return config


def _fitting(config: Any, wanted: Any, content: dict[str, Any], assumptions: list[str]) -> Any:
    """Give the class a config of its own kind.

    That may be a part of a composite config, or the same file read as loading the class by name
    would read it, whatever model_type says.
    """
    if wanted is None or isinstance(config, wanted):
        return config
    part = next((p for p in vars(config).values() if isinstance(p, wanted)), None)
    if part is not None:
        return part
    assumptions.append(f"config read as {wanted.__name__}, not {type(config).__name__}")
    return wanted.from_dict(content)


def _plain_attention(config: Any, assumptions: list[str]) -> None:
    """Let transformers choose attention itself where the config asks for a CUDA package."""
    asked = getattr(config, "_attn_implementation_internal", None)
    if isinstance(asked, str) and any(p in asked for p in _FLASH_PACKAGES):
        config._attn_implementation_internal = None
        assumptions.append(f"attention {asked} has no TPU build: traced transformers' default")


def _choose_kernels(config: Any, settings: TraceSettings) -> None:
    """Take the implementations of attention and of experts that were asked for."""
    if settings.attn:
        config._attn_implementation = settings.attn
    if settings.experts:
        config._experts_implementation = settings.experts


def _instantiate(model_class: Any, config: Any, dtype: torch.dtype, device: str) -> nn.Module:
    with torch.device(device), no_init_weights():
        model: nn.Module = model_class._from_config(config, **{dtype_argument(): dtype})
    tie = getattr(model, "tie_weights", None)
    if callable(tie):
        tie()
    return model


_LANGUAGE_PARTS = ("thinker", "semantic")
"""Parts that stand for a model which only ``generate()`` drives as a whole."""


def _part_with_forward(
    model: nn.Module, config: Any, assumptions: list[str]
) -> tuple[nn.Module, Any]:
    """Return the model, or the part of it that has a forward to trace."""
    if type(model).forward is not nn.Module.forward:
        return model, config
    for name in _LANGUAGE_PARTS:
        part = getattr(model, name, None)
        if isinstance(part, nn.Module):
            assumptions.append(
                f"{type(model).__name__} has no forward of its own: traced its {name} only"
            )
            return part, getattr(part, "config", config)
    raise NotAuditedError(
        f"{type(model).__name__} has no forward of its own: it runs through its other methods",
        stage=Stage.BUILD,
        code="no_forward",
        hint="scan the models it is made of",
    )


def move_and_forget(model: nn.Module, device: str) -> None:
    """Do what loading a checkpoint and ``.to(device)`` would: weights there, and unknown."""
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is None:
                continue
            if parameter.device.type != device:
                with torch.no_grad():
                    moved = nn.Parameter(parameter.to(device), parameter.requires_grad)
                module._parameters[name] = moved
                parameter = moved  # noqa: PLW2901 - the parameter as it is now
            shadow.forget(parameter)
        for name, buffer in module._buffers.items():
            if buffer is None:
                continue
            if buffer.device.type != device:
                module._buffers[name] = buffer.to(device)
            if name not in module._non_persistent_buffers_set and buffer.is_floating_point():
                shadow.forget(buffer)


def count_parameters(model: nn.Module) -> int:
    """Count the parameters, tied ones once."""
    return sum(p.numel() for p in model.parameters())


def _build_code(error: Exception) -> str:
    return "missing_dependency" if isinstance(error, ImportError) else "build_failed"
