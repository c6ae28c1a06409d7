"""Imports added where missing, removed where nothing uses them."""

from __future__ import annotations

import pytest

from tpu_audit.fix.imports import move_imports, orphans
from tpu_audit.rules.files.errors import NotReadableError


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
         "from torch.amp import a, b\na()\n"),
        ("import os  # c\nimport pynvml\nos.a\n", [], ["import pynvml"], "import os  # c\nos.a\n"),
        ("import pynvml\npynvml.x\n", [], ["import pynvml"], "import pynvml\npynvml.x\n"),
        ("from a import b, c\nc\n", [], ["from a import b"], "from a import c\nc\n"),
        ("import a as b\n", [], ["import a as b"], ""),
        ("x = 1\r\n", ["import torch"], [], "import torch\r\n\r\nx = 1\r\n"),
        ("x = 1\n", [], [], "x = 1\n"),
        ("#!/bin/x\n# c\n\n# d\nx = 1\n", ["import torch"], [],
         "#!/bin/x\n# c\nimport torch\n\n# d\nx = 1\n"),
        ("import os\nos.x = 1\nimport torch\n", ["import torch"], [],
         "import os\nos.x = 1\nimport torch\n"),
        ("try:\n    import torch\nexcept E:\n    pass\n", ["import torch"], [],
         "try:\n    import torch\nexcept E:\n    pass\n"),
        ("def f():\n    import torch\n", ["import torch"], [],
         "import torch\n\ndef f():\n    import torch\n"),
        ("import a\n__all__ = ['a']\n", [], ["import a"], "import a\n__all__ = ['a']\n"),
        ("x = 1", ["import torch"], [], "import torch\n\nx = 1"),
        ("def f():\n    import a  # why\n    b()\n", [], ["import a"], "def f():\n    b()\n"),
        ("def f():\r\n    import a\r\n    b()\r\n", [], ["import a"], "def f():\r\n    b()\r\n"),
        ("def f():\n    import a; b()\n    c\n", [], ["import a"],
         "def f():\n    import a; b()\n    c\n"),
        ("def f():\n    import a, b\n    b()\n", [], ["import a"],
         "def f():\n    import a, b\n    b()\n"),
        ("try:\n    import a\nexcept E:\n    pass\n", [], ["import a"],
         "try:\n    import a\nexcept E:\n    pass\n"),
        ("def f():\n    import a\n    import b\n", [], ["import a", "import b"],
         "def f():\n    import a\n    import b\n"),
    ],
)  # fmt: skip
def test_moved(before: str, adds: list[str], removes: list[str], after: str) -> None:
    """The rest of the file stays as it is, comments and line ends too."""
    assert move_imports(before, adds, removes) == after


def test_not_python() -> None:
    """What is not Python is refused."""
    with pytest.raises(NotReadableError):
        move_imports("def (:\n", ["import torch"], [])


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("from a import b\nb()\n", "from a import b\nc()\n", ("from a import b",)),
        ("from a import b as c\nc()\n", "from a import b as c\n", ("from a import b as c",)),
        ("import a.b\na.b()\n", "import a.b\n", ("import a.b",)),
        ("import a\nb()\n", "import a\nc()\n", ()),
        ("'Of a.'\nimport a\na()\n", "'Of a.'\nimport a\n", ("import a",)),
        ("from a import B\nB()\n", "from a import B\nx: 'list[B]' = 1\n", ()),
        ("def f():\n    import a\n    a()\n", "def f():\n    import a\n", ("import a",)),
        ("from __future__ import division\ndivision\n", "from __future__ import division\n", ()),
    ],
)
def test_orphans(before: str, after: str, found: tuple[str, ...]) -> None:
    """Only what was used and no longer is counts as orphaned."""
    assert orphans(before, after) == found
