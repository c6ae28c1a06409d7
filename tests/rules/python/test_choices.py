"""Choices of a device by whether CUDA is available."""

from __future__ import annotations

import pytest

from tests.support.python_code import module_of
from tpu_audit.rules.python.choices import find_choices

CHOICES = {
    "ternary": ('d = "cuda" if torch.cuda.is_available() else "cpu"', 1),
    "index": ('d = "cuda:0" if torch.cuda.is_available() else "cpu"', 1),
    "negated": ('d = "cpu" if not torch.cuda.is_available() else "cuda"', 1),
    "devices": (
        'd = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")',
        1,
    ),
    "flag": ('use = torch.cuda.is_available()\nd = "cuda" if use else "cpu"', 1),
    "flag and option": (
        'use = not args.no_cuda and torch.cuda.is_available()\nd = "cuda" if use else "cpu"',
        1,
    ),
    "count": ('d = "cuda" if torch.cuda.device_count() > 0 else "cpu"', 1),
    "chain": (
        'd = "cuda" if torch.cuda.is_available() else "mps" if mps.is_available() else "cpu"',
        1,
    ),
    "statement": ('if torch.cuda.is_available():\n    d = "cuda"\nelse:\n    d = "cpu"', 1),
    "statement over a default": ('d = "cpu"\nif torch.cuda.is_available():\n    d = "cuda"', 1),
    "move": ("if torch.cuda.is_available():\n    model.cuda()", 1),
    "assigned move": ("if torch.cuda.is_available():\n    x = x.cuda()", 1),
    "own helper": (
        'def gpu():\n    return torch.cuda.is_available()\nd = "cuda" if gpu() else "cpu"',
        1,
    ),
    "option alone": ('d = "cuda" if args.gpu else "cpu"', 0),
    "device test": ('d = "cuda" if x.is_cuda else "cpu"', 0),
    "another choice": ("n = 2 if torch.cuda.is_available() else 1", 0),
    "accelerator": ('d = "cuda" if torch.accelerator.is_available() else "cpu"', 0),
    "cache": ("if torch.cuda.is_available():\n    torch.cuda.empty_cache()", 0),
    "self reference": ('use = use and x\nd = "cuda" if use else "cpu"', 0),
}


@pytest.mark.parametrize(("source", "count"), CHOICES.values(), ids=CHOICES)
def test_finds_choices(source: str, count: int) -> None:
    """A choice between CUDA and something else by availability is found once."""
    assert len(list(find_choices(module_of(source)))) == count
