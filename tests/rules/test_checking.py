"""The checks of rules: when they are asked, with what, and what the context makes of hits."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.python_code import module_of
from tests.support.rules import make
from tpu_audit.rules.checking import check_document, check_module
from tpu_audit.rules.files.reading import read_document
from tpu_audit.rules.text import SourceText
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module


def report(node: ast.AST, *rest: Any) -> Iterator[Hit]:
    """Report a node with the names that came with it."""
    module: Module = rest[-1]
    said = [part if isinstance(part, str) else module.code(part) for part in rest[:-1]]
    yield module.hit(node, " ".join(said), "do")


SOURCE = """
import torch
from torch import cuda as c
import xformers.ops
x.cuda(0)
c.Event()
f(device_map=1)
y = x.is_cuda
z = "nccl backend"
getattr(x, "half")()
"""
ASKED = {
    "use": (lambda rule: rule.use("torch.cuda.Event"), [(6, "torch.cuda.Event")]),
    "use of many": (lambda rule: rule.use("torch.cuda.*"), [(6, "torch.cuda.Event")]),
    "call": (lambda rule: rule.call("torch.cuda.Event"), [(6, "torch.cuda.Event")]),
    "method": (lambda rule: rule.method("cuda"), [(5, "x")]),
    "method by text": (lambda rule: rule.method("half"), [(10, "x")]),
    "attribute": (lambda rule: rule.attribute("is_cuda", "cuda"), [(5, ""), (8, "")]),
    "keyword": (lambda rule: rule.keyword("device_map"), [(7, "")]),
    "imports": (lambda rule: rule.imports("flash_attn", "xformers"), [(4, "xformers")]),
    "string": (lambda rule: rule.string("nccl"), [(9, "")]),
    "node": (lambda rule: rule.node(ast.ImportFrom), [(3, "")]),
}


@pytest.mark.parametrize(("register", "hits"), ASKED.values(), ids=ASKED)
def test_asks_checks(register: Any, hits: list[tuple[int, str]]) -> None:
    """Each kind of check is asked for exactly the places that it registers for."""
    rule = make()
    register(rule)(report)
    found = check_module(module_of(SOURCE), [rule])
    assert [(one.hit.span.line, one.hit.message) for one in found] == hits


def test_asks_for_sinks_and_modules() -> None:
    """Device sinks come with their kind, and a module check once a file."""
    rule = make()

    @rule.sink("to")
    def sinks(sink: Any, module: Module) -> Iterator[Hit]:
        yield module.hit(sink.node, sink.kind, "do")

    @rule.module
    def once(module: Module) -> Iterator[Hit]:
        yield module.hit(module.tree.body[0], "once", "do")

    found = check_module(module_of('a = 1\nx.to("cuda")\nf(device="cuda")\n'), [rule])
    assert [(one.hit.span.line, one.hit.message) for one in found] == [(1, "once"), (2, "to")]


@pytest.mark.parametrize(
    ("source", "path", "changes", "severity"),
    [
        ("x.cuda()", "a.py", {}, Severity.ERROR),
        ("x.cuda()", "tests/a.py", {}, Severity.INFO),
        ("x.cuda()", "tests/a.py", {"in_tests": None}, None),
        ("x.cuda()", "tests/a.py", {"in_tests": Severity.ERROR}, Severity.ERROR),
        ("x.cuda()", "tests/a.py", {"severity": Severity.INFO}, Severity.INFO),
        ("if x.is_cuda:\n    x.cuda()", "a.py", {}, None),
        ("if x.is_cuda:\n    x.cuda()", "a.py", {"where_dead": Severity.INFO}, Severity.INFO),
        ("if TYPE_CHECKING:\n    x.cuda()", "a.py", {}, None),
    ],
)
def test_context_lowers_severity(
    source: str, path: str, changes: dict[str, Any], severity: Severity | None
) -> None:
    """Tests and dead arms lower a hit's severity as its rule says, or drop it."""
    rule = make(**changes)
    rule.method("cuda")(report)
    found = check_module(module_of(source, path), [rule])
    assert [one.severity for one in found] == ([] if severity is None else [severity])


def test_hits_own_severity() -> None:
    """A hit's own severity replaces the rule's before the context lowers it."""
    rule = make(severity=Severity.INFO)

    @rule.method("cuda")
    def check(call: ast.Call, _: ast.expr, module: Module) -> Iterator[Hit]:
        yield module.hit(call, "m", "a", severity=Severity.ERROR)

    (found,) = check_module(module_of("x.cuda()"), [rule])
    assert found.severity is Severity.ERROR


def test_order_and_duplicates() -> None:
    """Hits come in order of place, and one place is reported once a rule."""
    rule = make()
    rule.method("cuda")(report)
    rule.attribute("cuda")(lambda node, module: report(module.parent(node) or node, module))
    found = check_module(module_of("y.cuda()\nx.cuda()"), [rule])
    assert [one.hit.span.line for one in found] == [1, 2]


@pytest.mark.parametrize(
    ("keys", "path", "severity"),
    [
        (("yaml",), "a.yaml", Severity.ERROR),
        ((), "a.yaml", Severity.ERROR),
        (("conda",), "a.yaml", Severity.ERROR),
        (("json", "helm"), "a.yaml", None),
        (("yaml",), "tests/a.yaml", Severity.INFO),
    ],
)
def test_documents(keys: tuple[str, ...], path: str, severity: Severity | None) -> None:
    """A document is checked by the rules for its kind or one of its flavours."""
    rule = make()

    @rule.document(*keys)
    def check(document: Any) -> Iterator[Hit]:
        yield document.hit(document.entries[0].span, "m", "a")

    text = "channels: [nvidia]\ndependencies: [cudatoolkit]\n"
    found = check_document(read_document("yaml", path, SourceText(text)), [rule])
    assert [one.severity for one in found] == ([] if severity is None else [severity])


RAISED = """
import torch
try:
    run()
except RuntimeError as error:
    kind = torch.cuda.Event()
    raise RuntimeError(kind) from error
try:
    run()
except RuntimeError as error:
    torch.cuda.Event()
torch.cuda.Event()
"""


def test_lowers_what_words_an_error() -> None:
    """What a handler asks before it raises counts as info; a handler that goes on does not."""
    rule = make()
    rule.use("torch.cuda.Event")(report)
    found = check_module(module_of(RAISED), [rule])
    severities = [(one.hit.span.line, one.severity) for one in found]
    usual = rule.severity
    assert severities == [(6, Severity.INFO), (11, usual), (12, usual)]
