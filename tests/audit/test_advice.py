"""Replacements compute the same values, and only with ops that the registry holds as native."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402, N812 - torch's own convention
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from op_registry import loader  # noqa: E402
from op_registry.schema import Support  # noqa: E402
from tests.support.calls import record, snapshot  # noqa: E402
from tpu_audit.audit import advice  # noqa: E402

if TYPE_CHECKING:
    from tpu_audit.audit.advice import Replacement

TABLES = {
    **advice.REPLACEMENTS,
    **advice.SEPARABLE,
    **advice.AVOIDING_SYNC,
    **advice.KEEPING_GRADIENT,
}
SAME_VALUES = pytest.mark.parametrize("op", sorted(TABLES))


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ops: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        self.ops.add(f"{func.namespace}.{func._opname}.{func._overloadname}")
        return func(*args, **(kwargs or {}))


def _names() -> dict[str, Any]:
    generator = torch.Generator().manual_seed(0)

    def new(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator)

    mask = new(3, 3) > 0
    return {
        "torch": torch,
        "F": F,
        "x": new(3, 3),
        "y": new(3, 3),
        "a": new(2, 3, 4),
        "b": new(2, 4, 3),
        "c": new(1, 2, 6),
        "v": new(1, 2, 7, 5),
        "n": torch.tensor([2, 0, 1]),
        "total": 3,
        "mask": mask,
        "w": new(int(mask.sum())),
        "s": torch.tensor(0.5),
    }


def _run(found: Replacement) -> tuple[Any, set[str]]:
    names, recorder = _names(), _Recorder()
    exec(found.host, names)  # noqa: S102 - the table's own text
    with torch.no_grad(), recorder:
        value = eval(found.instead, names)  # noqa: S307 - the table's own text
    return value, recorder.ops


@SAME_VALUES
def test_same_values(op: str) -> None:
    """Both sides agree on random input."""
    names, call = _names(), TABLES[op].call
    with torch.no_grad():
        if " = " in call:
            exec(call, names)  # noqa: S102 - the table's own text
            wanted = names["x"]
        else:
            wanted = eval(call, names)  # noqa: S307 - the table's own text
    torch.testing.assert_close(_run(TABLES[op])[0], wanted)


@SAME_VALUES
def test_uses_names_what_runs(op: str) -> None:
    """``uses`` is exactly what the replacement ends in."""
    assert _run(TABLES[op])[1] == set(TABLES[op].uses)


def test_replaced_ops_exist() -> None:
    """Every key is an op of the packaged registry: no advice for an op that is spelled wrongly."""
    known = loader.load(None).ops
    for op in TABLES:
        assert op in known or any(name.startswith(f"{op}.") for name in known), op


def test_no_advice_without_a_native_registry() -> None:
    """A replacement is withheld when one of its ops is not native."""
    uses = advice.REPLACEMENTS["aten.mish"].uses
    native = snapshot(*map(record, uses))
    assert "softplus" in (advice.replacement("aten.mish.default", native) or "")
    short = snapshot(*map(record, uses[1:]), record(uses[0], Support.UNKNOWN))
    assert advice.replacement("aten.mish.default", short) is None
    assert advice.replacement("aten.mish.default", snapshot()) is None


def test_advice_is_by_overload_where_that_matters() -> None:
    """Median over all elements is replaced, median along a dimension is another thing."""
    native = snapshot(*map(record, advice.REPLACEMENTS["aten.median.default"].uses))
    assert advice.replacement("aten.median.default", native)
    assert advice.replacement("aten.median.dim", native) is None


def test_gradient_survives_the_replacement() -> None:
    """avg_pool2d in place of avg_pool1d passes the gradient on."""
    names = _names()
    names["c"].requires_grad_()
    found = advice.KEEPING_GRADIENT["aten.avg_pool1d"]
    eval(found.instead, names).sum().backward()  # noqa: S307 - the table's own text
    assert names["c"].grad is not None
