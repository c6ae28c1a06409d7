"""Runs the backward pass of many calls on one device, node by node, and prints the ops of each.

``python backward_probe.py pretended|torch_tpu``. Autograd's engine waits for devices that are not
there; its nodes can be called one by one. Prints one line of JSON: call -> ops of its backward pass
in order, or ["no gradient"].
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention

from tests.support.device import take_device

Call = Callable[[], torch.Tensor]
I64 = torch.int64


def new(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Make a tensor on the device; floating-point ones require grad."""
    floating = dtype.is_floating_point
    return torch.empty(shape, dtype=dtype, device="tpu").requires_grad_(floating)


def attend(head: int) -> Call:
    """Attention with this head size."""
    shape = (1, 4, 8, head)
    return lambda: F.scaled_dot_product_attention(new(*shape), new(*shape), new(*shape))


CALLS: dict[str, Call] = {
    "linear": lambda: F.linear(new(2, 3, 8), new(4, 8), new(4)),
    "linear without bias": lambda: F.linear(new(2, 3, 8), new(4, 8)),
    "matmul": lambda: torch.matmul(new(2, 3, 8), new(8, 4)),
    "bmm": lambda: torch.bmm(new(2, 3, 8), new(2, 8, 4)),
    "attention, head 64": attend(64),
    "attention, head 160": attend(160),
    "rms_norm": lambda: F.rms_norm(new(2, 3, 8), (8,), new(8)),
    "layer_norm": lambda: F.layer_norm(new(2, 8), (8,), new(8), new(8)),
    "group_norm": lambda: F.group_norm(new(2, 4, 8), 2, new(4), new(4)),
    "batch_norm": lambda: F.batch_norm(
        new(2, 4, 8), new(4).detach(), new(4).detach(), new(4), new(4), training=True
    ),
    "silu": lambda: F.silu(new(2, 8)),
    "gelu": lambda: F.gelu(new(2, 8)),
    "softmax": lambda: F.softmax(new(2, 8), -1),
    "embedding": lambda: F.embedding(new(2, 3, dtype=I64), new(10, 8)),
    "cross_entropy": lambda: F.cross_entropy(new(4, 8), new(4, dtype=I64)),
    "cross_entropy of pixels": lambda: F.cross_entropy(new(1, 8, 4, 4), new(1, 4, 4, dtype=I64)),
    "mse_loss": lambda: F.mse_loss(new(4, 8), new(4, 8)),
    "binary_cross_entropy": lambda: F.binary_cross_entropy_with_logits(new(4, 8), new(4, 8)),
    "conv1d": lambda: F.conv1d(new(1, 4, 8), new(2, 4, 3), new(2)),
    "conv2d": lambda: F.conv2d(new(1, 4, 8, 8), new(2, 4, 3, 3), new(2)),
    "avg_pool1d": lambda: F.avg_pool1d(new(2, 3, 8), 2),
    "avg_pool2d": lambda: F.avg_pool2d(new(2, 3, 8, 8), 2),
    "max_pool1d": lambda: F.max_pool1d(new(2, 3, 8), 2),
    "max_pool2d": lambda: F.max_pool2d(new(2, 3, 9, 9), 3, stride=2, padding=1, ceil_mode=True),
    "max_pool3d": lambda: F.max_pool3d(new(2, 3, 8, 8, 8), 2),
    "repeat_interleave": lambda: new(4, 8).repeat_interleave(2, 0),
    "repeat_interleave counts": lambda: torch.repeat_interleave(
        new(4, 8), new(4, dtype=I64), 0, output_size=8
    ),
    "rfft": lambda: torch.fft.rfft(new(4, 8)).real,
    "interpolate": lambda: F.interpolate(new(1, 3, 8, 8), size=(16, 16), mode="bilinear"),
    "gather": lambda: torch.gather(new(4, 8), 1, new(4, 8, dtype=I64)),
    "index": lambda: new(4, 8)[new(3, dtype=I64)],
    "sliced": lambda: new(4, 8)[:, 1:3],
    "dropout": lambda: F.dropout(new(2, 8), 0.1, training=True),
    "grouped_mm": lambda: torch._grouped_mm(
        new(8, 64, dtype=torch.bfloat16),
        new(2, 64, 32, dtype=torch.bfloat16),
        offs=new(2, dtype=torch.int32),
    ),
}


def backward(out: torch.Tensor) -> None:
    """Call the nodes behind ``out``, the last made first, as the engine would."""
    waiting: dict[Any, dict[int, torch.Tensor]] = {out.grad_fn: {0: torch.ones_like(out)}}
    while waiting:
        node = max(waiting, key=lambda one: one._sequence_nr())
        given = waiting.pop(node)
        grads = [given.get(i) for i in range(len(node._input_metadata))]
        call = node.apply if hasattr(node, "apply") else node
        found = call(*grads)
        found = found if isinstance(found, tuple) else (found,)
        found = found[: len(node.next_functions)]  # arguments that are no tensors come last
        for (behind, at), grad in zip(node.next_functions, found, strict=True):
            if behind is None or grad is None:
                continue
            if (leaf := getattr(behind, "variable", None)) is not None:
                fitted = _fitted(grad, leaf)
                leaf.grad = fitted if leaf.grad is None else leaf.grad + fitted
                continue
            fitted = _fitted(grad, behind._input_metadata[at])
            before = waiting.setdefault(behind, {})
            before[at] = before[at] + fitted if at in before else fitted


def _fitted(grad: torch.Tensor, like: Any) -> torch.Tensor:
    """Sum over what was broadcast, and cast: what the engine does between nodes."""
    shape = tuple(like.shape)
    summed = grad if tuple(grad.shape) == shape else grad.sum_to_size(shape)
    return summed if summed.dtype == like.dtype else summed.to(like.dtype)


def ops_of(call: Call) -> list[str]:
    """Return the ops of the call's backward pass, in order."""
    from tpu_audit.trace.fake import fake_mode, patched_for_fakes
    from tpu_audit.trace.places import Places
    from tpu_audit.trace.recorder import Recorder, op_name

    seen: list[str] = []

    class Ordered(Recorder):
        def _record(self, _ledger: Any, func: Any, *_: Any) -> None:
            seen.append(op_name(func))

    recorder = Ordered(Places())
    with patched_for_fakes(), fake_mode(), recorder:
        recorder.enter("forward")
        out = call()
        seen.clear()
        if not out.requires_grad:
            return ["no gradient"]
        with torch.no_grad():
            backward(out)
    return seen


def main() -> None:
    """Set up the device that the command line names and print the answers."""
    warnings.simplefilter("ignore")
    take_device(sys.argv[1])
    answers: dict[str, list[str]] = {}
    for name, call in CALLS.items():
        try:
            answers[name] = ops_of(call)
        except Exception as error:  # noqa: BLE001 - an error is an answer to compare as well
            answers[name] = [f"raises {type(error).__name__}: {error}"[:200]]
    sys.stdout.write("\n" + json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
