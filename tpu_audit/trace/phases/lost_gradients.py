"""Finds the parameters that a training step leaves without a gradient on the TPU alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.types.errors import NotAuditedError
from tpu_audit.types.trace import LostGradient

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

    from tpu_audit.trace.cuts import Cuts
    from tpu_audit.trace.phases.interface import Subject


def find_lost(subject: Subject, cuts: Cuts, learn: Callable[[Subject], bool]) -> list[LostGradient]:
    """Compare with the CPU, where some parameter has no gradient.

    ``learn`` runs forward and backward of a subject. Many models leave parameters unused; those
    have no gradient on the CPU either.
    """
    missing = without_gradient(subject.model)
    if not missing or subject.elsewhere is None:
        return []
    try:
        twin = subject.elsewhere("cpu")
        twin.model.train()
        learn(twin)
    except NotAuditedError as error:
        subject.assumptions.append(
            f"{len(missing)} parameters end without a gradient; whether the CPU gives them one is "
            f"not known: {error.message}"
        )
        return []
    lost = missing.keys() - without_gradient(twin.model).keys()
    ops = cuts.by_parameter()
    return [
        LostGradient(parameter=name, op=ops.get(id(parameter)))
        for name, parameter in missing.items()
        if name in lost
    ]


def without_gradient(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the trainable parameters that have no gradient, by path."""
    return {
        name: parameter
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and parameter.grad is None
    }
