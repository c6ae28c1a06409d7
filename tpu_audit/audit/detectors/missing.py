"""TPA901: the call raises, no kernel."""

from __future__ import annotations

from op_registry.schema import Fallback, Support
from tpu_audit.audit.advice import replacement
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.reference import install_advice, stand_ins
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA901",
    name="missing-op",
    severity=Severity.ERROR,
    summary="The op has no TPU kernel, itself or in a piece it decomposes into.",
    why=(
        "TorchTPU raises `operator '...' is not implemented for TPU` at the first such call, in "
        "eager mode and under torch.compile alike. A CPU fallback exists behind an internal "
        "switch that is off by default; it moves all operands to the host and back and never "
        "works under torch.compile."
    ),
    fix=(
        "Write the call with ops that have TPU kernels, or register a kernel of your own for it "
        'with `torch.library.Library("aten", "IMPL").impl(name, fn, "PrivateUse1")`.'
    ),
    references=("tpu-audit registry show OP: dispatch-table entry and evidence",),
)

_SWITCH = (
    "With the CPU fallback switched on (off by default, never under torch.compile) {bytes} would "
    "cross between TPU and host per "
)
_NO_CPU = "No CPU kernel could take over either."


def detect(call: Call) -> Hit | None:
    """Report a call whose support is ``missing``."""
    judgement = call.judgement
    if judgement.support is not Support.MISSING:
        return None
    falls_back = judgement.fallback is Fallback.CPU_IF_ENABLED
    never = judgement.fallback is Fallback.NEVER
    return Hit(
        code=CODE,
        reason=_reason(call),
        fix=_fix(call),
        cause=",".join(judgement.culprits),
        bytes=call.traffic if falls_back else 0,
        traffic=_SWITCH + call.settings.phase + "." if falls_back else _NO_CPU * never,
    )


def _reason(call: Call) -> str:
    raising = call.judgement.culprits or (call.use.op,)
    says = f"it raises \"operator '{dispatcher_name(raising[0])}' is not implemented for TPU\""
    if raising == (call.use.op,):
        return f"no TPU kernel: {says}"
    return f"no TPU kernel for {', '.join(raising)}, which it ends in: {says}"


def _fix(call: Call) -> str | None:
    """Name the reference kernels that stand in, and what may be written instead."""
    op, culprits = call.use.op, call.judgement.culprits
    install = install_advice(stand_ins(op, culprits, call.snapshot), call.snapshot)
    texts = (replacement(name, call.snapshot) for name in (op, *culprits))
    return either(install, next(filter(None, texts), None))


def either(install: str | None, write: str | None) -> str | None:
    """Join two ways out into one text; None when there is none."""
    if install and write:
        return f"{install} Or {write[0].lower()}{write[1:]}"
    return install or write


def dispatcher_name(op: str) -> str:
    """Return the dispatcher's spelling of ``aten.mish.out``: ``aten::mish.out``."""
    return op.removesuffix(".default").replace(".", "::", 1)
