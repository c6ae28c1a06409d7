"""What is kept of a call: tensors, arguments, costs, places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention

from tpu_audit.types.trace import TensorRef

Record = Callable[[Callable[[], Any]], Any]


def empty(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """Make an empty tensor on the device."""
    return torch.empty(shape, dtype=dtype, device="tpu")


def only(uses: Any, op: str) -> Any:
    """Return the one use of ``op``."""
    (use,) = [u for u in uses if u.op == op]
    return use


def test_equal_calls_are_counted_once_each(record: Record) -> None:
    """Two calls with the same tensors and arguments make one row of count 2."""
    x = [F.gelu]
    uses = record(lambda: [f(empty(2, 3)) for f in (*x, F.gelu)])

    gelu = only(uses, "aten.gelu.default")
    assert gelu.count == 2
    assert gelu.inputs == (TensorRef(dtype="bfloat16", shape=(2, 3), device="tpu"),)
    assert gelu.outputs == gelu.inputs


def test_deciding_arguments_separate_rows(record: Record) -> None:
    """The same tensors with another approximation are another row; positions are not kept."""
    uses = record(lambda: (F.gelu(empty(2)), F.gelu(empty(2), approximate="tanh"), empty(9)[3:5]))

    assert [dict(u.args) for u in uses if u.op == "aten.gelu.default"] == [
        {},
        {"approximate": "tanh"},
    ]
    assert dict(only(uses, "aten.slice.Tensor").args) == {"dim": 0}


def test_linear_costs_two_flops_a_multiplication(record: Record) -> None:
    """FLOPs of linear are 2*M*N*K; bytes count each tensor once."""
    linear = only(
        record(lambda: F.linear(empty(5, 8), empty(4, 8), empty(4))), "aten.linear.default"
    )

    assert linear.flops == 2 * 5 * 8 * 4
    assert linear.bytes == 2 * (5 * 8 + 4 * 8 + 4 + 5 * 4)


def test_attention_counts_both_products(record: Record) -> None:
    """Grouped-query attention counts the products of all query heads."""
    uses = record(
        lambda: F.scaled_dot_product_attention(
            empty(1, 4, 8, 64), empty(1, 2, 16, 64), empty(1, 2, 16, 64), enable_gqa=True
        )
    )

    use = only(uses, "aten._scaled_dot_product_cudnn_attention.default")
    assert use.flops == 2 * (2 * 4 * 8 * 16 * 64)


def test_lstm_flops_come_from_its_definition(record: Record) -> None:
    """A recurrent layer kept whole still counts the products inside."""
    layer: list[Any] = []

    def call() -> None:
        layer.append(torch.nn.LSTM(8, 8, device="tpu", dtype=torch.bfloat16))
        layer[0](empty(2, 3, 8))

    use = only(record(call), "aten.lstm.input")
    assert use.flops == 2 * (2 * 3) * 8 * 32 + 2 * (2 * 3) * 8 * 32


def test_grouped_mm_counts_each_row_once(record: Record) -> None:
    """Rows are multiplied by one expert each, however they are grouped."""
    uses = record(
        lambda: torch._grouped_mm(empty(6, 8), empty(3, 8, 4), offs=empty(3, dtype=torch.int32))
    )
    assert only(uses, "aten._grouped_mm.default").flops == 2 * 6 * 8 * 4


def test_views_move_no_bytes(record: Record) -> None:
    """A view costs nothing; a copy costs its reading and writing."""
    uses = record(lambda: empty(4, 8).transpose(0, 1).contiguous())

    assert only(uses, "aten.transpose.int").bytes == 0
    assert only(uses, "aten.clone.default").bytes == 2 * 2 * 32


def test_calls_on_cpu_tensors_are_not_tpu_calls(record: Record) -> None:
    """An op on host tensors is left out; a copy between host and device is kept."""
    uses = record(lambda: (torch.ones(3) + 1).to("tpu"))

    assert {u.op for u in uses} == {"aten._to_copy.default"}
    copy = only(uses, "aten._to_copy.default")
    assert (copy.inputs[0].device, copy.outputs[0].device) == ("cpu", "tpu")


def test_inference_mode_shows_the_backends_ops(record: Record) -> None:
    """Composites that inference mode would show are decomposed as the backend would see them."""

    def call() -> None:
        with torch.inference_mode():
            F.layer_norm(empty(2, 8), (8,))

    assert [u.op for u in record(call) if "empty" not in u.op] == ["aten.native_layer_norm.default"]
