"""Items of literal collections, through names and wrappers."""

from __future__ import annotations

import ast

import pytest

from tests.support.python_code import module_of, sought

ITEMS = {
    "literal": ('seek(["cuda", "cpu"])', ["cuda", "cpu"]),
    "name": ('kinds = {"cuda"}\nseek(kinds)', ["cuda"]),
    "frozenset": ('seek(frozenset(("cuda", "mps")))', ["cuda", "mps"]),
    "sum": ('a = ["cuda"]\nseek(a + ["cpu"])', ["cuda", "cpu"]),
    "attribute": (
        'class A:\n    kinds = ("cuda",)\n    def f(self):\n        seek(self.kinds)\n',
        ["cuda"],
    ),
    "refers to itself": ('k = ["cuda"]\nk = k + ["cpu"]\nk = k + k\nseek(k)', ["cuda", "cpu"]),
    "unknown": ("seek(f(x))", []),
}


@pytest.mark.parametrize(("source", "items"), ITEMS.values(), ids=ITEMS)
def test_items(source: str, items: list[str]) -> None:
    """Each item is found once, and a name that refers to itself ends."""
    module = module_of(source)
    found = module.elements(sought(module))
    assert [item.value for item in found if isinstance(item, ast.Constant)] == items
