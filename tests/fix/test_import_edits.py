"""One imported name more or less, everything else as it was."""

from __future__ import annotations

import pytest

from tpu_audit.fix.import_edits import Name, with_name, without_name

TORCH = Name("torch")


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("", TORCH, "import torch\n"),
        ("# c\n", TORCH, "# c\nimport torch\n"),
        ('"""D."""', TORCH, '"""D."""\nimport torch\n'),
        ("import os\n", TORCH, "import os\nimport torch\n"),
        ("import os\n\nfrom a import b\n", TORCH, "import os\n\nimport torch\nfrom a import b\n"),
        ("import os\n\nimport a\nfrom a import b\n", TORCH,
         "import os\n\nimport a\nimport torch\nfrom a import b\n"),
        ("from __future__ import x\n", TORCH, "from __future__ import x\nimport torch\n"),
        ("from os import x\nfrom a import b\n", TORCH,
         "from os import x\nimport torch\nfrom a import b\n"),
        ("import a\n", Name("os"), "import a\nimport os\n"),
        ("import a  # é\n", Name("torch", None, "t"), "import a  # é\nimport torch as t\n"),
        ("from a import b\n", Name("a", "c"), "from a import b, c\n"),
        ("from a import b  # d\n", Name("a", "c", "e"), "from a import b, c as e  # d\n"),
        ("from a import (\n    b,\n)\n", Name("a", "c"), "from a import (\n    b,\n    c,\n)\n"),
        ("from a import *\n", Name("a", "c"), "from a import *\nfrom a import c\n"),
        ("from .a import b\n", Name("a", "c"), "from .a import b\nfrom a import c\n"),
    ],
)  # fmt: skip
def test_added(before: str, name: Name, after: str) -> None:
    """A name joins its like: a list from the same module, the imports of its kind."""
    assert with_name(before, name) == after


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("import os\nimport torch  # c\nimport x\n", TORCH, "import os\nimport x\n"),
        ("import torch\r\nimport x\r\n", TORCH, "import x\r\n"),
        ("import torch, x\n", TORCH, "import x\n"),
        ("import x, torch  # c\n", TORCH, "import x  # c\n"),
        (
            "from a import (\n    b,  # é\n    c,\n)\n",
            Name("a", "b"),
            "from a import (\n    c,\n)\n",
        ),
        ("from a import (\n    b,\n    c,\n)\n", Name("a", "c"), "from a import (\n    b,\n)\n"),
        ("from a import (\n    b,\n)\nx\n", Name("a", "b"), "x\n"),
        ("from a import b as c, d\n", Name("a", "b", "c"), "from a import d\n"),
        ("import torch; x = 1\n", TORCH, "import torch; x = 1\n"),
        ("import torch.nn\n", TORCH, "import torch.nn\n"),
        ("import torch", TORCH, ""),
    ],
)
def test_removed(before: str, name: Name, after: str) -> None:
    """A name goes with its comma, a statement with its line and the comment on it."""
    assert without_name(before, name) == after
