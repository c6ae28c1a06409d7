"""Where code stands: tests, types, loops, hot functions."""

from __future__ import annotations

import pytest

from tests.support.python_code import module_of, seek, sought
from tpu_audit.rules.python.context import is_test_path


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/a.py", True),
        ("src/pkg/tests/deep/a.py", True),
        ("test_a.py", True),
        ("pkg/a_test.py", True),
        ("conftest.py", True),
        ("pkg\\tests\\a.py", True),
        ("pkg/testing_utils.py", True),
        ("pkg/test_utils/training.py", True),
        ("pkg/latest/a.py", False),
        ("pkg/contest.py", False),
        ("train.py", False),
    ],
)
def test_test_paths(path: str, test: bool) -> None:
    """A test file is told by its path."""
    assert is_test_path(path) is test
    assert module_of("seek(1)", path).context(sought(module_of("seek(1)", path))).test is test


TYPES = {
    "block": ("if TYPE_CHECKING:\n    seek(1)", True),
    "block of typing": ("if typing.TYPE_CHECKING:\n    seek(1)", True),
    "else": ("if TYPE_CHECKING:\n    pass\nelse:\n    seek(1)", False),
    "argument": ("def f(x: seek(1)):\n    pass", True),
    "result": ("def f() -> seek(1):\n    pass", True),
    "variable": ("x: seek(1) = y", True),
    "annotated value": ("x: int = seek(1)", False),
    "default": ("def f(x: int = seek(1)):\n    pass", False),
}


@pytest.mark.parametrize(("source", "types"), TYPES.values(), ids=TYPES)
def test_type_checking(source: str, types: bool) -> None:
    """Code for type checkers alone is told from code that runs."""
    module, node = seek(source)
    assert module.context(node).type_checking is types


CAUGHT = {
    "import": ("try:\n    seek(1)\nexcept ImportError:\n    pass", True),
    "bare": ("try:\n    seek(1)\nexcept:\n    pass", True),
    "several": ("try:\n    seek(1)\nexcept (KeyError, RuntimeError):\n    pass", True),
    "other": ("try:\n    seek(1)\nexcept KeyError:\n    pass", False),
    "handler": ("try:\n    pass\nexcept ImportError:\n    seek(1)", False),
    "finally": ("try:\n    seek(1)\nfinally:\n    pass", False),
    "function inside": (
        ("try:\n    def f():\n        seek(1)\nexcept ImportError:\n    pass"),
        False,
    ),
}


@pytest.mark.parametrize(("source", "caught"), CAUGHT.values(), ids=CAUGHT)
def test_caught(source: str, caught: bool) -> None:
    """What stands in a ``try`` that catches its failure is known to."""
    module, node = seek(source)
    assert module.context(node).caught is caught


HOT = {
    "forward": ("class M:\n    def forward(self, x):\n        seek(1)", True),
    "called by forward": (
        (
            "class M:\n    def forward(self, x):\n        self.mix(x)\n"
            "    def mix(self, x):\n        seek(1)"
        ),
        True,
    ),
    "called by a called one": (
        (
            "def deep(x):\n    seek(1)\ndef mix(x):\n    deep(x)\nclass M:\n"
            "    def forward(self, x):\n        mix(x)"
        ),
        True,
    ),
    "training step": ("def training_step(self, batch):\n    seek(1)", True),
    "loop over a loader": ("for batch in train_loader:\n    seek(1)", True),
    "loop with an index": ("for i, b in enumerate(loader):\n    seek(1)", True),
    "loop over steps": ("for step in range(9):\n    seek(1)", True),
    "loop over epochs": (
        "for epoch in range(9):\n    for x in y:\n        loss.backward()\n    seek(1)",
        False,
    ),
    "loop that steps": ("while True:\n    loss.backward()\n    seek(1)", True),
    "called in a loop that steps": (
        "def log(x):\n    seek(1)\nfor b in x:\n    loss.backward()\n    log(b)",
        True,
    ),
    "generate": ("def generate(self, ids):\n    seek(1)", True),
    "start-up": ("seek(1)", False),
    "init": ("class M:\n    def __init__(self):\n        seek(1)", False),
    "main": ("def main():\n    seek(1)", False),
    "plain loop": ("for path in paths:\n    seek(1)", False),
    "loop's iterable": ("for batch in seek(loader):\n    pass", False),
    "before the loop": ("seek(1)\nfor batch in loader:\n    pass", False),
}


@pytest.mark.parametrize(("source", "hot"), HOT.values(), ids=HOT)
def test_hot(source: str, hot: bool) -> None:
    """What runs each step is told from what runs once."""
    module, node = seek(source)
    assert module.context(node).hot is hot


def test_loops() -> None:
    """Loops are counted within the function, and the innermost statement is named."""
    module, node = seek(
        "for a in x:\n    def f():\n        while b:\n            [seek(1) for c in d]"
    )
    context = module.context(node)
    assert context.loop_depth == 2
    assert module.code(context.loop or node).startswith("while b")
    assert context.function is not None


def test_default() -> None:
    """A parameter's default is told from other expressions."""
    module, node = seek("def f(x, d=make(seek(1))):\n    pass")
    assert module.context(node).default
    module, node = seek("def f(x):\n    y = make(d=seek(1))")
    assert not module.context(node).default
