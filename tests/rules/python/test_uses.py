"""Uses of dotted names: each found once, at the right node."""

from __future__ import annotations

import pytest

from tests.support.python_code import module_of

SOURCE = """
import torch
from torch import cuda as c
import torch.cuda.amp as amp
f = torch.cuda.empty_cache
f()
c.empty_cache()
getattr(torch, "cuda").empty_cache()
class A:
    lib = torch.cuda
    def g(self):
        self.lib.empty_cache()
def h(lib=torch.cuda):
    lib.empty_cache()
amp.GradScaler()
x = torch.cuda.memory.empty_cache
"""


def test_finds_each_use() -> None:
    """Uses through every kind of alias are found, and an alias itself only where it is called."""
    module = module_of(SOURCE)
    lines = sorted(module.span(node).line for node in module.uses.named("torch.cuda.empty_cache"))
    assert lines == [5, 6, 7, 8, 12, 14, 16]


def test_wildcard_takes_whole_names() -> None:
    """A pattern finds the longest dotted names only."""
    module = module_of("import torch\ntorch.cuda.amp.GradScaler()\ntorch.cuda.Event()\n")
    found = [module.code(node) for node in module.uses.named("torch.cuda.*")]
    assert sorted(found) == ["torch.cuda.Event", "torch.cuda.amp.GradScaler"]


def test_names_of_dead_arms_do_not_count() -> None:
    """A device type that a TPU never has does not make a module CUDA's."""
    module = module_of(
        """
        import torch
        if device == "gpu":
            device = "cuda"
        lib = getattr(torch, device)
        lib.device_count()
        """
    )
    assert module.uses.named("torch.cuda.device_count") == []


def test_called() -> None:
    """Calls are told from other uses."""
    module = module_of(SOURCE)
    lines = sorted(module.span(call).line for call in module.uses.called("torch.cuda.empty_cache"))
    assert lines == [6, 7, 8, 12, 14]


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("TrainingArguments(fp16=True)", 1),
        ("from transformers import TrainingArguments\nTrainingArguments()", 1),
        ("from mine import TrainingArguments\nTrainingArguments()", 0),
        ("class TrainingArguments: ...\nTrainingArguments()", 0),
    ],
)
def test_unknown_class_counts_by_its_last_name(source: str, count: int) -> None:
    """A class that a snippet does not import is taken for the one a rule asks for."""
    module = module_of(source)
    assert len(list(module.uses.called("transformers.TrainingArguments"))) == count


def test_imports() -> None:
    """Imports are found with what they take from where, dynamic ones included."""
    module = module_of(
        """
        import flash_attn.layers as fl, os
        from numba import cuda
        from . import flash_attn
        import importlib
        importlib.import_module("xformers.ops")
        def need(name):
            return importlib.import_module(name)
        need("apex")
        """
    )
    assert [names for _, names in module.imported if names != ("importlib",)] == [
        ("flash_attn.layers", "os"),
        ("numba", "numba.cuda"),
        ("xformers.ops",),
        ("apex",),
    ]
