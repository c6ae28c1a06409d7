"""TPA921: the checkpoint is quantised, the trace is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from op_registry.schema import Support
from tpu_audit.audit.code import Code, Said
from tpu_audit.audit.quantisation import OTHER, SCHEMES, Fate, Scheme
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from op_registry.schema import Snapshot
    from tpu_audit.types.model import ModelSpec

CODE = Code(
    code="TPA921",
    name="quantised-checkpoint",
    severity=Severity.WARNING,
    summary="The config asks for quantised weights.",
    why=(
        "Quantised layers are put in when weights are loaded, mostly by a package of their own with"
        " CUDA kernels of its own. The trace is of the dense model, so the verdict does not cover "
        "them. An error: where there is no GPU such a checkpoint cannot be loaded. Info: it is "
        "dequantised while it is loaded, so the dense model is what runs."
    ),
    fix=(
        "Use the unquantised checkpoint in bfloat16, or dequantise while loading on the CPU, and "
        "remove `quantization_config`."
    ),
)

_FEW = 3
"""Ops that a sentence has room for."""
_SEVERITIES = {
    Fate.REFUSED: Severity.ERROR,
    Fate.UNKNOWN: Severity.ERROR,
    Fate.PACKAGE: Severity.WARNING,
    Fate.PLAIN: Severity.WARNING,
    Fate.DENSE: Severity.INFO,
}
_SENTENCES = {
    Fate.REFUSED: "transformers refuses to load it where there is no GPU; it needs {needs}",
    Fate.UNKNOWN: (
        "transformers has no loader for it: it skips the quantisation and takes the packed numbers "
        "for weights"
    ),
    Fate.PACKAGE: "its layers need {needs}; how they run on a TPU was not looked at",
    Fate.PLAIN: "its layers need {needs}; those calls were not traced",
    Fate.DENSE: (
        "its kernels need {needs}, and without, transformers dequantises while loading: the dense "
        "model runs, in the memory that one takes"
    ),
}
_FIXES = {
    Fate.REFUSED: "Use the unquantised checkpoint in bfloat16.",
    Fate.UNKNOWN: "Use the unquantised checkpoint in bfloat16.",
    Fate.DENSE: "Plan for the memory of the dense model, or use its bfloat16 checkpoint at once.",
}


def describe(spec: ModelSpec, snapshot: Snapshot) -> Said | None:
    """Return what to say, or None when the config asks for no quantisation."""
    method = spec.quantisation
    if method is None:
        return None
    scheme = SCHEMES.get(_full_name(method, spec), OTHER)
    says = _SENTENCES[scheme.fate].format(needs=scheme.needs) + _judged(scheme, snapshot)
    return Said(
        severity=_SEVERITIES[scheme.fate],
        message=f"the checkpoint is quantised ({method}), traced is the dense model; {says}",
        fix=f"{scheme.dense} Or use the unquantised checkpoint in bfloat16."
        if scheme.dense
        else _FIXES.get(scheme.fate, CODE.fix),
    )


def _full_name(method: str, spec: ModelSpec) -> str:
    """Name bitsandbytes' two methods apart, as transformers does: 4 bits unless it says 8."""
    if method != "bitsandbytes":
        return method
    config = spec.config["quantization_config"]
    eight = isinstance(config, Mapping) and config.get("load_in_8bit")
    return f"{method}_{'8bit' if eight else '4bit'}"


def _judged(scheme: Scheme, snapshot: Snapshot) -> str:
    """Return what the registry says of the ops that the layers are known to call, a sentence."""
    supports = {op: _support(op, snapshot) for op in scheme.ops}
    weak = [f"{op} {found.value}" for op, found in supports.items() if found is not Support.NATIVE]
    if not supports:
        return ""
    if weak:
        return f". The registry holds {', '.join(weak)}"
    named = ", ".join(supports) if len(supports) <= _FEW else f"all {len(supports)} ops they call"
    return f". The registry holds {named} native"


def _support(op: str, snapshot: Snapshot) -> Support:
    record = snapshot.get(op)
    return record.support if record is not None else Support.UNKNOWN
