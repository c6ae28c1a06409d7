"""The judge of repaired trees: it passes what is right and sees what is spoilt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.census.fix_checks import lost, torn
from tests.census.fixes import repair_tree
from tests.support.trees import HIT, tree
from tpu_audit.rules.edits import Edit

_MIXED = """# head
import os

import torch.cuda

x = (
    torch.ones(3)  # three
    + 1
).cuda()  # moved
if x.any():
    torch.cuda.manual_seed(0)  # kept
"""
_BOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["x.cuda()"]},
        {"cell_type": "code", "outputs": [{"text": "x.cuda()"}], "source": ["%time x = x.cuda()"]},
    ],
    "nbformat": 4,
}


@pytest.mark.parametrize("unsafe", [False, True])
def test_tree(tmp_path: Path, unsafe: bool) -> None:
    """A tree of many kinds of files is repaired without a fault, and its source is untouched."""
    files: dict[str, str | bytes] = {
        "plain.py": HIT,
        "mixed.py": _MIXED,
        "windows.py": _MIXED.replace("\n", "\r\n"),
        "marked.py": b"\xef\xbb\xbf" + HIT.encode(),
        "latin.py": b"# coding: latin-1\n# \xe9\n" + HIT.encode(),
        "broken.py": "x.cuda(\n",
        "train.ipynb": json.dumps(_BOOK, indent=1),
        "pod.yaml": "resources: {limits: {nvidia.com/gpu: 1}}  # one\r\n",
        "Dockerfile": "FROM python:3.11\nENV NCCL_DEBUG=INFO\n",
    }
    source = tree(tmp_path / "source", files)
    done = repair_tree(source, tmp_path / "copy", unsafe=unsafe)

    assert done.faults == ()
    assert done.changed >= 6 + unsafe
    assert done.applied["TPA103"] == 6
    assert {name: (source / name).read_bytes() for name in files} == {
        name: data if isinstance(data, bytes) else data.encode() for name, data in files.items()
    }


@pytest.mark.parametrize(
    ("name", "before", "after", "check"),
    [
        ("a.py", b"x = 1\r\n", b"x = 2\n", "line ends"),
        ("a.py", b"x = 1\n", b"x = 2", "line ends"),
        ("a.py", b"\xef\xbb\xbfx = 1\n", b"x = 2\n", "byte order mark"),
        ("a.py", b"x = 1\n", b"x = (\n", "reads"),
        ("a.json", b"{}\n", b"{\n", "reads"),
        ("a.yaml", b"a: 1\n", b"a: [\n", "reads"),
        ("a.toml", b"a = 1\n", b"a = \n", "reads"),
        ("a.py", b"f(\n    a,  # why\n)\n", b"g(a)\n", "comments"),
        ("a.py", b"# why\nf(a)\n", b"g(a)\n", "comments"),
        ("a.ipynb", b'{"cells": [], "nbformat": 4}', b'{"cells": [], "nbformat": 5}', "notebook"),
    ],
)
def test_loss_is_seen(name: str, before: bytes, after: bytes, check: str) -> None:
    """Whatever a repair must keep is missed when it goes."""
    assert check in {found for found, _ in lost(Path(name), before, after)}


def test_deleted_statement_takes_its_comment() -> None:
    """A comment behind a statement may go with it."""
    assert list(lost(Path("a.py"), b"a()\nb()  # why\nc()\n", b"a()\nc()\n")) == []


@pytest.mark.parametrize(
    ("text", "new", "parts"),
    [
        ("(a + b).cuda()", "a + b.to(d)", ["a + b"]),
        ("(a + b).cuda()", "(a + b).to(d)", []),
        ("f(a + b)", "g(a + b, 1)", []),
    ],
)
def test_torn(text: str, new: str, parts: list[str]) -> None:
    """An expression that loses its brackets is seen."""
    assert list(torn(text, (Edit(start=0, end=len(text), text=new),))) == parts
