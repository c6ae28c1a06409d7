"""Which code raises on a TPU whatever is repaired in it."""

from __future__ import annotations

import pytest

from tests.support.rule_cases import repaired
from tpu_audit.rules.cuda_api.cuda_availability import RULE
from tpu_audit.rules.python.module import Module
from tpu_audit.rules.rule import Case
from tpu_audit.rules.symbols.demands import needs_cuda


@pytest.mark.parametrize(
    ("code", "needs"),
    [
        ("torch.cuda.get_device_capability()", True),
        ("from torch.cuda import cudart\nx = cudart()", True),
        ("torch.cuda.empty_cache()", False),
        ("torch.cuda.current_device()", False),
        ("cudart()", False),
    ],
)
def test_needs_cuda(code: str, needs: bool) -> None:
    """Only names that raise and that nothing replaces count."""
    module = Module("a.py", f"import torch\n{code}\n")

    assert needs_cuda(module.tree.body, module) is needs


@pytest.mark.parametrize(
    "use",
    [
        "x = torch.cuda.get_device_capability() if torch.cuda.is_available() else None",
        "if torch.cuda.is_available() and torch.cuda.get_device_capability()[0] > 7:\n    pass",
        "use = torch.cuda.is_available()\nif use:\n    torch.cuda.cudart()",
    ],
)
def test_its_guard_stays(use: str) -> None:
    """A test for CUDA is not opened to TPUs when what it guards would raise there."""
    source = f"import torch\n{use}\n"

    assert repaired(RULE, Case(source)) == source
