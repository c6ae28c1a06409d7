"""Components of diffusers pipelines: the class that the config names, built as it is loaded."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from tpu_audit.trace.build import make_config, move_and_forget
from tpu_audit.trace.libraries.extras import need
from tpu_audit.trace.libraries.making import making
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

_HINT = "check that diffusers' from_config takes this config, or install the diffusers it is of"


def build_model(
    spec: ModelSpec, settings: TraceSettings, device: str
) -> tuple[nn.Module, Any, list[str]]:
    """Build one component; (model in eval mode, its config, assumptions).

    Raises NotAuditedError at stage ``config`` or ``build``.
    """
    diffusers = need("diffusers")
    assumptions: list[str] = []
    model_class = _find_class(spec, diffusers)
    dtype: torch.dtype = getattr(torch, settings.dtype)
    if hasattr(model_class, "config_class"):  # one of transformers' kind that diffusers brings
        config = make_config(spec, model_class, assumptions)
        with making(model_class.__name__, dtype, device, _HINT):
            model = model_class(config)
    else:
        content = {key: value for key, value in spec.config.items() if key not in _QUANTISED}
        if len(content) < len(spec.config):
            assumptions.append("quantization_config ignored: traced as an unquantised model")
        with making(model_class.__name__, dtype, device, _HINT):
            model = model_class.from_config(content)
        config = model.config
    move_and_forget(_in_dtype(model, dtype).eval(), device)
    return model, config, assumptions


_QUANTISED = frozenset({"quantization_config"})


def _find_class(spec: ModelSpec, diffusers: Any) -> Any:
    name = spec.architecture
    if name is None:
        raise NotAuditedError(
            "the config names no diffusers class",
            stage=Stage.BUILD,
            code="unknown_architecture",
            hint="set _class_name in the component's config.json",
        )
    for home in _homes(spec, diffusers):
        found = getattr(home, name, None)
        if inspect.isclass(found) and issubclass(found, nn.Module):
            return found
    own = spec.home is not None and _package(spec.home) is None
    if own or spec.needs_remote_code:
        raise NotAuditedError(
            f"{name} lives in the repository's own code, which is not executed",
            stage=Stage.BUILD,
            code="remote_code",
            skipped=True,
            hint="look for a checkpoint of a class that diffusers has",
        )
    raise NotAuditedError(
        f"diffusers {diffusers.__version__} has no class {name}",
        stage=Stage.BUILD,
        code="unknown_architecture",
        hint="check the spelling of _class_name, or install the diffusers that has it",
    )


def _homes(spec: ModelSpec, diffusers: Any) -> list[Any]:
    """Return where the class may live: diffusers itself, then the pipeline's own package."""
    package = _package(spec.home) if spec.home else None
    if package is None:
        return [diffusers]
    home = import_module(package)
    inner = [part for part in vars(home).values() if inspect.ismodule(part)]
    return [diffusers, home, *inner]


def _package(home: str) -> str | None:
    """Return the package of diffusers' pipelines that an index names, if there is one."""
    name = f"diffusers.pipelines.{home}"
    return name if home.isidentifier() and find_spec(name) else None


def _in_dtype(model: nn.Module, dtype: torch.dtype) -> nn.Module:
    """Cast as loading a checkpoint does: some classes keep named parts in float32."""
    kept: tuple[str, ...] = tuple(getattr(model, "_keep_in_fp32_modules", None) or ())
    reduced = dtype in {torch.bfloat16, torch.float16}
    for path, module in model.named_modules():
        for name, parameter in module._parameters.items():
            if parameter is None or not parameter.is_floating_point():
                continue
            parts = f"{path}.{name}".split(".")
            wanted = torch.float32 if reduced and set(kept) & set(parts) else dtype
            if parameter.dtype != wanted:
                module._parameters[name] = nn.Parameter(
                    parameter.detach().to(wanted), parameter.requires_grad
                )
    return model
