"""Imports added where missing, removed where nothing uses them."""

from __future__ import annotations

import pytest

from tpu_audit.fix.imports import ImportsNotMovedError, move_imports


@pytest.mark.parametrize(
    ("before", "adds", "removes", "after"),
    [
        ("x = 1\n", ["import torch"], [], "import torch\n\nx = 1\n"),
        ("import torch\nx = 1\n", ["import torch"], [], "import torch\nx = 1\n"),
        (
            '"""Doc."""\nfrom __future__ import annotations\n\nx = 1\n',
            ["import torch"],
            [],
            '"""Doc."""\nfrom __future__ import annotations\nimport torch\n\nx = 1\n',
        ),
        ("from torch.amp import a\na()\n", ["from torch.amp import b"], [],
         "from torch.amp import b, a\na()\n"),
        ("import os  # c\nimport pynvml\nos.a\n", [], ["import pynvml"], "import os  # c\nos.a\n"),
        ("import pynvml\npynvml.x\n", [], ["import pynvml"], "import pynvml\npynvml.x\n"),
        ("from a import b, c\nc\n", [], ["from a import b"], "from a import c\nc\n"),
        ("import a as b\n", [], ["import a as b"], "\n"),
        ("x = 1\r\n", ["import torch"], [], "import torch\r\n\r\nx = 1\r\n"),
        ("x = 1\n", [], [], "x = 1\n"),
    ],
)  # fmt: skip
def test_moved(before: str, adds: list[str], removes: list[str], after: str) -> None:
    """The rest of the file stays as it is, comments and line ends too."""
    assert move_imports(before, adds, removes) == after


def test_beyond_libcst() -> None:
    """A file that cannot be read keeps its imports."""
    with pytest.raises(ImportsNotMovedError):
        move_imports("def (:\n", ["import torch"], [])
