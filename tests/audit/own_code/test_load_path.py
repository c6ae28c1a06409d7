"""Relative imports, followed by text."""

from __future__ import annotations

import pytest

from tpu_audit.audit.own_code.load_path import loaded_files


@pytest.mark.parametrize(
    ("line", "reached"),
    [
        ("from .b import B", ["b.py"]),
        ("    from .b import B  # in a function", ["b.py"]),
        ("from . import b, c as d", ["b.py", "c.py"]),
        ("from . import (\n    b,\n    c,\n)", ["b.py", "c.py"]),
        ("from .pkg import d", ["pkg/__init__.py", "pkg/d.py"]),
        ("from .pkg.d import D", ["pkg/__init__.py", "pkg/d.py"]),
        ("from  .b  import  B", ["b.py"]),
        ("from b import B", []),
        ("import b", []),
        ("from .nowhere import B", []),
        ("x = 'from .b import B'", []),
    ],
)
def test_forms(line: str, reached: list[str]) -> None:
    """Each way to write an import of the repository leads to its files; absolute ones do not."""
    texts = {"a.py": line, **dict.fromkeys(("b.py", "c.py", "pkg/__init__.py", "pkg/d.py"), "")}
    assert loaded_files(["a.py"], texts) == ("a.py", *reached)


def test_up_and_round() -> None:
    """Imports out of a folder, and in a circle, are followed once."""
    texts = {
        "pkg/a.py": "from ..b import B\nfrom ...too.high import x",
        "pkg/__init__.py": "",
        "b.py": "from .pkg.a import A",
        "c.py": "from .b import B",
    }
    assert loaded_files(["pkg/a.py"], texts) == ("b.py", "pkg/__init__.py", "pkg/a.py")
    assert loaded_files(["nowhere.py"], texts) == ()


def test_python_2() -> None:
    """A file that does not parse is followed as well."""
    texts = {"a.py": "print 'x'\nfrom .b import B", "b.py": ""}
    assert loaded_files(["a.py"], texts) == ("a.py", "b.py")
