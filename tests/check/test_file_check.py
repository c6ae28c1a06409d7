"""One file: what is found in it, and what is said when it cannot be read."""

from __future__ import annotations

import ast
import gc
import json

import pytest

from tests.support.trees import HIT
from tpu_audit.check import file_check
from tpu_audit.check.file_check import check_bytes
from tpu_audit.rules import catalogue
from tpu_audit.rules.python.module import Module

RULES = catalogue.rules()


def gaps(name: str, data: bytes) -> list[tuple[str, int | None]]:
    """Return code and line of what could not be read."""
    return [(gap.code, gap.line) for gap in check_bytes(name, data, RULES).gaps]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_python(end: str) -> None:
    """A finding has the place of its method, whatever ends the lines."""
    (item,) = check_bytes("a.py", HIT.replace("\n", end).encode(), RULES).items

    assert (item.code, item.severity, item.line, item.column) == ("TPA103", "error", 2, 19)


def test_notebook() -> None:
    """Findings, comments and gaps of a notebook are at their places in the file."""
    cells = [
        {"cell_type": "code", "source": ["def (:"]},
        {"cell_type": "code", "source": ["import torch\n", "x = torch.ones(3).cuda()\n"]},
        {"cell_type": "code", "source": ["x.cuda()  # tpu-audit: ignore[TPA103] é"]},
    ]
    text = json.dumps({"cells": cells}, indent=1, ensure_ascii=False)
    result = check_bytes("a.ipynb", text.encode(), RULES)
    lines = text.split("\n")

    assert [item.code for item in result.items] == ["TPA103", "TPA103"]
    for item in result.items:
        assert lines[item.line - 1][item.column - 1 :].startswith("cuda()")
    (comment,) = result.comments
    assert lines[comment.line - 1][comment.column - 1 :].startswith("# tpu-audit")
    assert (comment.first, comment.last) == (comment.line, comment.line)
    assert [gap.code for gap in result.gaps] == ["syntax"]


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("a.py", b"x = torch.cuda(\n", 1),
        ("a.py", b"print 'cuda'\n", 1),
        ("a.py", b"import torch\n<<<<<<< HEAD\nx.cuda()\n", 2),
        ("a.py", b"x = 'cuda\xff'\n\n\n", 1),
        ("a.json", b'{"device": "cuda"', 1),
        ("a.yaml", b"a: [cuda\n", 2),
        ("a.toml", b"a = cuda\n", 1),
    ],
)
def test_broken(name: str, data: bytes, line: int) -> None:
    """A file that is not what its name says is a gap with a line."""
    assert gaps(name, data) == [("unreadable", line)]


def test_broken_but_irrelevant() -> None:
    """What no rule has anything to look for in is not parsed at all."""
    assert gaps("a.py", b"say 'hello'\n") == []


def test_deep_nesting() -> None:
    """Code that no analysis follows is a gap, not a crash."""
    deep = b"cuda = " + b"-" * 100_000 + b"x\n"

    assert next(code for code, _ in gaps("a.py", deep)) in {"too_deep", "unreadable"}


def test_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in a rule costs one file, and says where it was."""

    def fail(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(file_check, "check_module", fail)
    (gap,) = check_bytes("a.py", HIT.encode(), RULES).gaps

    assert gap.code == "internal"
    assert "test_file_check.py" in gap.reason
    assert "KeyError" in gap.reason


def test_assignment_that_uses_itself() -> None:
    """A name that is assigned from itself over several lines is followed once."""
    text = "import torch\nn = 8\nn = (\n    torch.cuda.is_available()\n    and n\n)\n"
    result = check_bytes("a.py", text.encode(), RULES)

    assert result.gaps == []
    assert [item.line for item in result.items] == [4]


def test_nothing_is_kept() -> None:
    """A file's tree and all answers about it are gone when the next one is read."""
    source = "".join(case.source for rule in RULES[:40] for case in rule.invalid[:1])
    for text in (HIT, source, "import torch\nif x.sum().item():\n    y = torch.tensor(1).cuda()\n"):
        check_bytes("a.py", text.encode(), RULES)
    gc.collect()

    assert [one for one in gc.get_objects() if isinstance(one, Module | ast.stmt)] == []


def test_endless_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file full of findings the first are kept, and it is said that there are more."""
    monkeypatch.setattr(file_check, "MAX_FINDINGS", 3)
    four = HIT + "x.cuda()\n" * 3
    assert check_bytes("a.py", four.rpartition("x.")[0].encode(), RULES).gaps == []
    result = check_bytes("a.py", four.encode(), RULES)

    assert [item.line for item in result.items] == [2, 3, 4]
    assert [(gap.code, gap.line) for gap in result.gaps] == [("too_many", 4)]
