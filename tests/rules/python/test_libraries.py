"""What a file imports, and whose a call is."""

from __future__ import annotations

import ast

import pytest

from tests.support.python_code import module_of


@pytest.mark.parametrize(
    ("source", "jax"),
    [
        ("import jax", True),
        ("from flax import linen as nn", True),
        ("import jax\nimport torch", False),
        ("import jax\nfrom transformers import x", False),
        ("from .jax import x", False),
        ("import numpy", False),
    ],
)
def test_jax_files(source: str, jax: bool) -> None:
    """A file is JAX's if it imports JAX and nothing of PyTorch."""
    assert module_of(source).libraries.is_jax is jax


@pytest.mark.parametrize(
    ("source", "framework"),
    [
        ('import jax\njax.device_put(x, "cuda")', "jax"),
        ('import tensorflow as tf\ntf.device("cuda")', "tensorflow"),
        ('from xgboost import XGBClassifier as X\nX(device="cuda")', "xgboost"),
        ('import xgboost\nm = xgboost.train()\nm.to("cuda")', "xgboost"),
        ('import xgboost\nimport torch\ntorch.zeros(1, device="cuda")', ""),
        ('import xgboost\nx.to("cuda")', ""),
        ('x.to("cuda")', ""),
    ],
)
def test_whose_call(source: str, framework: str) -> None:
    """A call is another framework's by its callee, or by what made the object."""
    module = module_of(source)
    call = max(module.index.of(ast.Call), key=lambda call: call.lineno)
    assert module.libraries.of_call(call) == framework
