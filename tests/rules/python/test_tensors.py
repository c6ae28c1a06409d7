"""Judging which expressions hold tensors on the device."""

from __future__ import annotations

import ast

import pytest

from tpu_audit.rules.python.module import Module
from tpu_audit.rules.python.tensors import Holds, tensors


def held(source: str) -> Holds:
    """Return what the expression of the last ``probe(...)`` in a source holds."""
    module = Module("case.py", source)
    probes = [n for n in ast.walk(module.tree) if isinstance(n, ast.Call)]
    call = next(n for n in probes if isinstance(n.func, ast.Name) and n.func.id == "probe")
    return tensors(module).of(call.args[0])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x: torch.Tensor):\n    probe(x.sum() + 1)\n", Holds.TENSOR),
        ("def f(x: 'Optional[Tensor]' = None):\n    probe(x)\n", Holds.TENSOR),
        ("def f(x: Tensor | None):\n    probe(x > 0)\n", Holds.TENSOR),
        ("def f(x: torch.Tensor):\n    probe(x.shape[0])\n", Holds.UNKNOWN),
        ("def f(x: torch.Tensor):\n    probe(x.size(0))\n", Holds.OTHER),
        ("def f(x: torch.Tensor):\n    probe(x is None)\n", Holds.OTHER),
        ("def f(x: torch.Tensor):\n    y = x.cpu()\n    probe(y.mean())\n", Holds.HOST),
        ("def f(x: torch.Tensor):\n    probe('%s' % x)\n", Holds.OTHER),
        ("def f(x: torch.Tensor):\n    for row in x:\n        probe(row)\n", Holds.TENSOR),
        (
            "def f(x: torch.Tensor):\n    for i, r in enumerate(x):\n        probe(i)\n",
            Holds.OTHER,
        ),
        ("import torch\nprobe(torch.zeros(3))\n", Holds.HOST),
        ("import torch\nprobe(torch.zeros(3, device=dev))\n", Holds.TENSOR),
        ("import torch\nprobe(torch.zeros(3, device='cpu'))\n", Holds.HOST),
        ("import torch\nprobe(torch.zeros(3).to(dev))\n", Holds.TENSOR),
        ("import torch\nprobe(torch.finfo(torch.float32).max)\n", Holds.UNKNOWN),
        ("import numpy as np\nprobe(np.mean(x))\n", Holds.OTHER),
        ("loss = criterion(out, y)\nprobe(loss)\n", Holds.LIKELY),
        ("def f(x):\n    x.unsqueeze(0)\n    probe(x)\n", Holds.LIKELY),
        ("def f(x):\n    probe(x)\n", Holds.UNKNOWN),
        ("def f(n=1):\n    probe(n)\n", Holds.OTHER),
        ("model = Net().to(dev)\nprobe(model)\n", Holds.OTHER),
        ("total = 0\nfor x in xs:\n    total += f(x).item()\nprobe(total)\n", Holds.OTHER),
        ("values, places = scores.topk(3)\nprobe(places)\n", Holds.LIKELY),
    ],
)
def test_judges_expressions(source: str, expected: Holds) -> None:
    """Types, calls, moves and uses tell tensors on the device from others."""
    assert held(source) is expected


def test_knows_buffers_and_parameters() -> None:
    """What a module registers is on the device, what it merely stores is not."""
    source = (
        "import torch\nclass N(torch.nn.Module):\n    def __init__(self):\n"
        "        self.register_buffer('scale', torch.ones(3))\n        self.plain = torch.ones(3)\n"
        "    def run(self):\n        probe({})\n"
    )
    assert held(source.format("self.scale")) is Holds.TENSOR
    assert held(source.format("self.plain")) is Holds.HOST


def test_ends_on_what_refers_to_itself() -> None:
    """A loop of assignments is not followed for ever."""
    assert held("while True:\n    a = b\n    b = a\n    probe(a)\n") is Holds.UNKNOWN
