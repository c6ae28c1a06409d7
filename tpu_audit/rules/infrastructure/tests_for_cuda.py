"""TPA813: tests that are skipped where there is no CUDA."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tests import TestMarks
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_ADVICE = "ask for any accelerator: `torch.accelerator.is_available()`"
_SKIPS = frozenset({"skip", "skipTest"})

RULE = Rule(
    code="TPA813",
    name="test-skipped-off-cuda",
    severity=Severity.INFO,
    words=(
        *(
            "skipif",
            "skipIf",
            "skipUnless",
            "skip",
            "skipTest",
            "require_torch_gpu",
            "requires_cuda",
        ),
        *("require_cuda", "onlyCUDA", "skipIfNoCuda", "require_gpu", "requires_gpu"),
        *("skip_if_no_gpu", "require_torch_multi_gpu", "require_multi_gpu", "require_non_xpu_cuda"),
    ),
    where_dead=Severity.INFO,
    docs=Docs(
        what="Finds tests, classes and modules of tests that are skipped unless CUDA is there: "
        "`skipif(not torch.cuda.is_available())`, `skipUnless`, `require_torch_gpu`, and "
        "`pytest.skip` under such a test.",
        why="On a TPU they are skipped, not failed: what they cover is untested, and the suite is "
        "green all the same.",
        example='@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")',
        instead="@pytest.mark.skipif(not torch.accelerator.is_available(), "
        'reason="needs an accelerator")',
        references=(
            "https://docs.pytorch.org/docs/stable/accelerator.html",
            "https://docs.pytest.org/en/stable/how-to/skipping.html",
        ),
    ),
    valid=(
        Case(
            "import pytest, torch\n@pytest.mark.skipif(not torch.accelerator.is_available(), "
            "reason='x')\ndef test_a():\n    pass\n",
            filename="tests/test_a.py",
        ),
        Case(
            "import pytest, sys\n@pytest.mark.skipif(sys.platform == 'win32', reason='x')\n"
            "def test_a():\n    pytest.skip('later')\n",
            filename="tests/test_a.py",
        ),
        Case(
            "import pytest, torch\n@pytest.mark.skipif(torch.cuda.is_available(), reason='cpu')\n"
            "def test_a():\n    if torch.cuda.is_available():\n        pytest.skip('cpu only')\n",
            filename="tests/test_a.py",
        ),
        Case("def skip(flag):\n    return flag\nskip(skip_if=1)\n", filename="tests/test_b.py"),
    ),
    invalid=(
        Case(
            "import pytest, torch\n@pytest.mark.skipif(not torch.cuda.is_available(), reason='x')\n"
            "def test_a():\n    pass\n",
            filename="tests/test_a.py",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import unittest\nimport torch\n"
            "from transformers.testing_utils import require_torch_gpu\n"
            "CUDA = torch.cuda.is_available()\n@unittest.skipUnless(CUDA, 'gpu')\n"
            "class A(unittest.TestCase):\n    @require_torch_gpu\n    def test_b(self):\n"
            "        pass\n",
            filename="tests/test_b.py",
            lines=(5, 7),
        ),
        Case(
            "import pytest\nimport torch\n"
            "pytestmark = pytest.mark.skipif(torch.cuda.device_count() == 0, "
            "reason='x')\nneeds = pytest.mark.skipif(not torch.cuda.is_available(), reason='y')\n"
            "@needs\ndef test_a():\n    pass\n",
            filename="tests/test_c.py",
            lines=(3, 4),
        ),
        Case(
            "import pytest\nimport torch\ndef test_a():\n    if not torch.cuda.is_available():\n"
            "        pytest.skip('no GPU')\n",
            filename="tests/test_d.py",
            lines=(5,),
        ),
    ),
)


@RULE.node(ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
def check_decorators(
    node: ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef, module: Module
) -> Iterator[Hit]:
    """Find decorators."""
    marks = TestMarks(module)
    for decorator in node.decorator_list:
        if marks.runs(decorator) is False:
            yield _hit(decorator, f"`{node.name}`", module)


@RULE.attribute("skipif")
def check_marks(attribute: ast.Attribute, module: Module) -> Iterator[Hit]:
    """Find marks that are assigned, to ``pytestmark`` or to be used by many."""
    call = module.parent(attribute)
    if isinstance(call, ast.Call) and TestMarks(module).runs(call) is False:
        statement = module.statement(call)
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            yield _hit(call, "what is marked so", module)


@RULE.method(*_SKIPS)
def check_calls(call: ast.Call, _: ast.expr, module: Module) -> Iterator[Hit]:
    """Find calls under a test on CUDA."""
    statement = module.statement(call)
    parent = module.parent(statement)
    if not isinstance(parent, ast.If) or statement not in parent.body:
        return
    if module.truth(parent.test) is True and _speaks_of_cuda(parent.test, module):
        yield _hit(call, "this test", module)


def _speaks_of_cuda(test: ast.expr, module: Module) -> bool:
    return any(
        module.is_named(node, "torch.cuda.*")
        for node in descend(test)
        if isinstance(node, ast.Attribute | ast.Name)
    )


def _hit(node: ast.expr, what: str, module: Module) -> Hit:
    return module.hit(
        node, f"{what} is skipped on a TPU: its coverage is lost", _ADVICE, cause="skipped"
    )
