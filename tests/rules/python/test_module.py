"""Places, edits and hits of a module, and what fixes write."""

from __future__ import annotations

import ast
import gc
import weakref

import pytest

from tests.support.python_code import module_of, seek
from tpu_audit.rules import catalogue
from tpu_audit.rules.checking import check_module
from tpu_audit.rules.edits import Applicability, apply_edits
from tpu_audit.rules.python import repair

DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'


def test_places_count_code_points() -> None:
    """Columns count code points, and a method's place begins at its name."""
    module = module_of("\u00e9 = x\n\u00e9.y(\n  1).cuda(\n  0)\n")
    call = next(c for c in module.index.of(ast.Call) if getattr(c.func, "attr", "") == "cuda")
    assert module.span(call).column == 1
    assert (module.method_span(call).line, module.method_span(call).column) == (3, 6)
    assert module.code(call).startswith("\u00e9.y(")


def test_edits_replace_the_node() -> None:
    """An edit covers exactly the node, behind characters of several bytes too."""
    module, node = seek('\u00e9 = "\U0001d54f"; seek(old)\n')
    edits = (module.edit(node, "new"),)
    assert (
        apply_edits(module.source.encoded, edits).decode() == '\u00e9 = "\U0001d54f"; seek(new)\n'
    )


@pytest.mark.parametrize(
    ("source", "fitted"),
    [
        ("seek(d)", DEVICE),
        ("x = [seek(d)]\ny = seek2(d)", DEVICE),
        ("y = seek(d) if 1 else 2", DEVICE),
    ],
)
def test_fitted_needs_no_parentheses(source: str, fitted: str) -> None:
    """An argument takes an ``or`` as it is."""
    module, node = seek(source)
    assert repair.fitted(module, node, repair.device(module)) == fitted


@pytest.mark.parametrize(
    "source", ["d.type", "d + 1", "-d", "d == x", "d[0]", "d()", "d if x else y"]
)
def test_fitted_adds_parentheses(source: str) -> None:
    """What binds tighter than ``or`` gets parentheses around it."""
    module = module_of(source)
    (node,) = module.index.names["d"]
    edit = module.edit(node, repair.fitted(module, node, repair.device(module)))
    fixed = apply_edits(module.source.encoded, (edit,)).decode()
    expected = ast.dump(ast.parse(source.replace("d", f"({DEVICE})", 1), mode="eval"))
    assert ast.dump(ast.parse(fixed, mode="eval")) == expected


@pytest.mark.parametrize(
    ("source", "name", "imports"),
    [
        ("import torch", "torch", ()),
        ("import torch as th", "th", ()),
        ("import torch.nn as nn", "torch", ("import torch",)),
        ("import torch.nn", "torch", ()),
        ("from torch import nn", "torch", ("import torch",)),
        ("def f():\n    import torch", "torch", ("import torch",)),
        ("x = 1", "torch", ("import torch",)),
    ],
)
def test_fix_knows_torchs_name(source: str, name: str, imports: tuple[str, ...]) -> None:
    """A fix writes the file's own name for torch, and asks for the import it lacks."""
    module = module_of(source)
    edit = module.edit(module.tree.body[0], repair.device(module))
    assert repair.torch_name(module) == name
    assert repair.fix(module, Applicability.SAFE, edit).adds_imports == imports


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("a()\nseek(1)  # why\nb()\n", "a()\nb()\n"),
        ("if x:\n    seek(1)\n", "if x:\n    pass\n"),
        ("if x:\n    a()\n    seek(1)\n", "if x:\n    a()\n"),
        ("a(); seek(1)\n", "a(); pass\n"),
        ("if x: seek(1)\n", "if x: pass\n"),
        ("a()\nseek(\n  1,\n)\n", "a()\n"),
        ("a()\nseek(1)", "a()\n"),
    ],
)
def test_delete(source: str, left: str) -> None:
    """A deleted statement goes with its lines, and leaves ``pass`` where a block needs one."""
    module, node = seek(source)
    fix = repair.delete(module, module.statement(node), Applicability.SAFE)
    assert apply_edits(module.source.encoded, fix.edits).decode() == left


def test_close_frees_at_once() -> None:
    """A closed module's tree and answers are freed without the garbage collector."""
    module = module_of('import torch\nd = "cuda"\nif x.is_cuda:\n    y.to(d)\n')
    check_module(module, catalogue.rules())
    alive = weakref.ref(module.tree)
    gc.disable()
    try:
        module.close()
        assert alive() is None
    finally:
        gc.enable()


def test_no_quotes_into_f_strings() -> None:
    """A fix that would write quotes inside an f-string is not offered."""
    module, node = seek("x = f\"{seek('cuda')}\"")
    fix = module.replace(node, DEVICE)
    assert module.hit(node, "m", "a", fix=fix).fix is None
    assert module.hit(node, "m", "a", fix=module.replace(node, "name")).fix is not None
