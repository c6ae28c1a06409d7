"""The one walk: every node by class with its parent."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tpu_audit.rules.python import walk
from tpu_audit.rules.python.walk import Index, children, descend

_SKIPPED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.type_ignore)
SYNTAX = """
from __future__ import annotations
import a.b as c, d
from .e import *
@dec(1)
async def f[*args](x, /, y: int = 1, *a, z=2, **k) -> str:
    global g
    async with x as y, z: await y
    async for i in x: yield i
    else: pass
    return lambda q=1: q
class C(B, metaclass=M):
    x: int = 1
    def m(self):
        nonlocal_ = 1
        def n():
            nonlocal nonlocal_
            del nonlocal_
try: raise E from e
except* (A, B) as e: assert e, "m"
finally: x += 1
while True: break
match x:
    case {"a": 1, **rest}: pass
    case C(a, b=2) | [1, *_] | None: pass
    case str() as s if s: pass
y = [*a, {1: 2, **b}, {1, 2}, (i for i in x if i), {k: v for k, v in z}, x[1:2, ...]]
z = f"{x!r:>{w}}" if not (a := 1) < 2 <= 3 and b or c else -1j
"""


def plain(source: str) -> list[ast.AST]:
    """Return what ``ast.walk`` finds, operators and contexts left out."""
    return [node for node in ast.walk(ast.parse(source)) if not isinstance(node, _SKIPPED)]


def kinds(nodes: list[ast.AST]) -> list[str]:
    """Return the sorted class names of nodes."""
    return sorted(type(node).__name__ for node in nodes)


@pytest.mark.parametrize("source", [SYNTAX.replace("[*args]", ""), Path(walk.__file__).read_text()])
def test_finds_every_node(source: str) -> None:
    """The index and the helpers find each node that ``ast.walk`` finds, once."""
    tree = ast.parse(source)
    index = Index(tree)
    expected = kinds(plain(source))
    assert kinds(descend(tree)) == expected
    assert kinds([*index.parents, tree]) == expected
    assert kinds(index.of(*{type(node) for node in plain(source)})) == expected


def test_parents() -> None:
    """A node's parent has it among its children."""
    index = Index(ast.parse(SYNTAX.replace("[*args]", "")))
    for node, parent in index.parents.items():
        assert any(child is node for child in children(parent))


def test_tables() -> None:
    """Names, stores, attributes, keywords, parameters and globals are found by their names."""
    index = Index(ast.parse("def f(p):\n    global g\n    g = x.attr(key=p)\n"))
    assert len(index.names["p"]) == 1
    assert list(index.stores) == ["g"]
    assert (len(index.attributes["attr"]), len(index.keywords["key"])) == (1, 1)
    assert (len(index.arguments["p"]), len(index.globals["g"])) == (1, 1)


def test_blocks() -> None:
    """A statement's block is the list that it stands in."""
    tree = ast.parse(
        "if a:\n    b\nelse:\n    c\n    d\ntry:\n    e\nexcept X:\n    f\nfinally:\n    g\n"
    )
    index = Index(tree)
    for node in index.parents:
        if isinstance(node, ast.stmt):
            assert any(one is node for one in index.block(node))
