"""A call is made again from its record, and as code that makes the same call."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from op_registry.verify.rebuild import NAMES, Call, CannotRebuildError, literal, rebuild

F32 = "float32"


def record(arguments: dict[str, Any], tensors: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a record that counts."""
    return {"arguments": arguments, "tensors": tensors}


def run_code(call: Call) -> Any:
    """Run the code of a call on the CPU."""
    names: dict[str, Any] = dict(NAMES)
    exec(call.code(), names)  # noqa: S102 - that code is the subject
    return names["call"]("cpu")


def test_plain_call() -> None:
    """Tensors come in the order of the program, the rest by name; code gives the same result."""
    a, b = torch.tensor([1.5, math.inf]), torch.tensor([2.0, math.nan])
    described = record({"alpha": 2}, {"self": [F32, [2]], "other": [F32, [2]]})

    call = rebuild("aten.add.Tensor", torch.ops.aten.add.Tensor, described, [a, b])

    sample = call.sample()
    assert sample.kwargs == {"alpha": 2}
    assert sample.args[0] is a
    assert call.code() == (
        "def call(device):\n"
        "    input = torch.tensor([1.5, inf], dtype=torch.float32, device=device)\n"
        "    other = torch.tensor([2.0, nan], dtype=torch.float32, device=device)\n"
        "    return torch.ops.aten.add.Tensor(input, other, alpha=2)\n"
    )
    wanted = torch.add(a, b, alpha=2)
    torch.testing.assert_close(run_code(call), wanted, equal_nan=True)


def test_lists_and_odd_values() -> None:
    """Lists of tensors, dtypes, infinite floats and complex numbers survive the record."""
    tensors = [torch.ones(2), torch.zeros(2)]
    cat = rebuild(
        "aten.cat.default",
        torch.ops.aten.cat.default,
        record({"dim": 0}, {"tensors": [[F32, [2]], [F32, [2]]]}),
        tensors,
    )
    assert torch.equal(run_code(cat), torch.cat(tensors))

    total = rebuild(
        "aten.sum.dim_IntList",
        torch.ops.aten.sum.dim_IntList,
        record({"dim": [0], "keepdim": False, "dtype": "torch.float64"}, {"self": [F32, [2]]}),
        tensors[:1],
    )
    assert run_code(total).dtype is torch.float64

    clamp = rebuild(
        "aten.clamp.default",
        torch.ops.aten.clamp.default,
        record({"min": "-inf", "max": 0.5}, {"self": [F32, [2]]}),
        tensors[:1],
    )
    assert run_code(clamp).tolist() == [0.5, 0.5]
    mul = rebuild(
        "aten.mul.Scalar",
        torch.ops.aten.mul.Scalar,
        record({"other": "(1+2j)"}, {"self": [F32, [2]]}),
        tensors[:1],
    )
    assert run_code(mul).tolist() == [1 + 2j, 1 + 2j]


def test_texts_stay_texts() -> None:
    """A string argument is a string, also when it looks like something else."""
    call = rebuild(
        "aten.div.Tensor_mode",
        torch.ops.aten.div.Tensor_mode,
        record({"rounding_mode": "floor"}, {"self": [F32, [1]], "other": [F32, [1]]}),
        [torch.tensor([-3.0]), torch.tensor([2.0])],
    )

    assert run_code(call).tolist() == [-2.0]


def test_out_arguments() -> None:
    """What is only written to is made anew: the program does not take it."""
    described = record({}, {"self": [F32, [2]], "out": [F32, [2]]})

    call = rebuild("aten.neg.out", torch.ops.aten.neg.out, described, [torch.ones(2)])

    assert run_code(call).tolist() == [-1.0, -1.0]


def test_arguments_written_to() -> None:
    """Code can return the arguments that the call writes to beside what it returns."""
    values = {"self": torch.ones(2), "other": torch.ones(2), "alpha": 1}
    call = Call(op="aten.add_.Tensor", func=torch.ops.aten.add_.Tensor, values=values)
    names: dict[str, Any] = dict(NAMES)

    code = call.code(["other"])
    exec(code, names)  # noqa: S102 - that code is the subject

    assert code.endswith("return torch.ops.aten.add_.Tensor(input, other, alpha=1), other\n")
    assert [tensor.tolist() for tensor in names["call"]("cpu")] == [[2.0, 2.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(0, 3),
        torch.full((3, 4), 2.0),
        torch.arange(100, dtype=torch.bfloat16),
        torch.tensor([True, False]),
        torch.tensor(5),
        torch.tensor([complex(1, math.nan), complex(-math.inf, 2)]),
        torch.tensor([0.1], dtype=torch.float64),
        torch.tensor([0.1, 0.3], dtype=torch.float16),
    ],
    ids=str,
)
def test_tensors_in_code(tensor: torch.Tensor) -> None:
    """Code for a tensor gives it bit by bit, whatever its size and dtype."""
    made = eval(literal(tensor), NAMES | {"device": "cpu"})  # noqa: S307 - that code is the subject

    assert made.dtype is tensor.dtype
    assert made.shape == tensor.shape
    torch.testing.assert_close(made, tensor, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("tensors", "says"),
    [
        ([torch.ones(2)], "other tensors"),
        ([torch.ones(2), torch.ones(3)], "other tensors"),
        ([torch.ones(2), torch.ones(2), torch.ones(2)], "more tensors"),
    ],
)
def test_tensors_that_do_not_fit(tensors: list[torch.Tensor], says: str) -> None:
    """Values of another call are noticed."""
    described = record({"alpha": 1}, {"self": [F32, [2]], "other": [F32, [2]]})

    with pytest.raises(CannotRebuildError, match=says):
        rebuild("aten.add.Tensor", torch.ops.aten.add.Tensor, described, tensors)


def test_values_that_cannot_be_made() -> None:
    """An argument that JSON could not hold is said to be missing."""
    described = record({"alpha": "<object>"}, {"self": [F32, [2]], "other": [F32, [2]]})

    with pytest.raises(CannotRebuildError, match="<object>"):
        rebuild("aten.add.Tensor", torch.ops.aten.add.Tensor, described, [torch.ones(2)] * 2)
