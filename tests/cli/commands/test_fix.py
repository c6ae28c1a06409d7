"""``tpu-audit fix``: a diff, a write, an exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.trees import CLEAN, HIT, tree

if TYPE_CHECKING:
    from tests.support.command_line import CommandLine

LITERAL = 'import torch\nx = torch.zeros(2, device="cuda")\n'


def test_diff(tpu_audit: CommandLine) -> None:
    """By default nothing is written: the diff goes to stdout, the sum to stderr, 1 says pending."""
    tree(tpu_audit.folder, {"a.py": HIT})
    ran = tpu_audit("fix", ".")

    assert ran.code == 1
    assert "-x = torch.ones(3).cuda()\n+x = torch.ones(3).to(" in ran.out
    assert ran.err == "note: would repair 1 finding in 1 file\n"
    assert (tpu_audit.folder / "a.py").read_text() == HIT


def test_write(tpu_audit: CommandLine) -> None:
    """--write writes, and then there is nothing left to do."""
    tree(tpu_audit.folder, {"a.py": HIT})

    ran = tpu_audit("fix", ".", "--write")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "note: repaired 1 finding in 1 file\n"
    again = tpu_audit("fix", ".", "--write")
    assert (again.code, again.out, again.err) == (0, "", "note: nothing to repair\n")
    assert tpu_audit("check", ".", "--fail-on", "info").code == 0


def test_unsafe(tpu_audit: CommandLine) -> None:
    """Unsafe repairs are counted, and made on request only."""
    tree(tpu_audit.folder, {"a.py": LITERAL})

    assert "note: 1 more repair with --unsafe-fixes" in tpu_audit("fix", ".").err
    assert tpu_audit("fix", ".", "--unsafe-fixes", "--write").code == 0
    assert '"cuda"' not in (tpu_audit.folder / "a.py").read_text()


def test_json(tpu_audit: CommandLine) -> None:
    """The same for machines."""
    tree(tpu_audit.folder, {"a.py": HIT, "b.py": CLEAN})
    found = json.loads(tpu_audit("fix", ".", "-f", "json").out)

    assert found["written"] is False
    (file,) = found["files"]
    assert (file["path"], file["applied"], file["refused"]) == ("a.py", {"TPA103": 1}, {})
    assert file["diff"].startswith("--- a/a.py\n")


@pytest.mark.parametrize("args", [["absent.py"], [".", "--select", "XYZ"]])
def test_usage(tpu_audit: CommandLine, args: list[str]) -> None:
    """A wrong path or rule is 2."""
    ran = tpu_audit("fix", *args)

    assert (ran.code, ran.err.startswith("error: ")) == (2, True)
