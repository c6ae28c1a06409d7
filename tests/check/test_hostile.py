"""Files that nobody means to be read, through the command: findings or a reason, no traceback."""

from __future__ import annotations

import builtins
import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.support.trees import HIT, tree
from tpu_audit.cli.root import root

if TYPE_CHECKING:
    from pathlib import Path

_20_MB = 20_000_000


def _notebook(code: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": [code]}], "nbformat": 4})


def checked(path: str) -> dict[str, Any]:
    """Return the report of ``check`` on a path, which ends as a check that worked."""
    ran = CliRunner().invoke(
        root, ["check", path, "-f", "json", "--no-cache", "--fail-on", "never"]
    )

    assert (ran.exit_code, ran.exception) == (0, None)
    assert "Traceback" not in ran.output
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


def reasons(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return path and code of what could not be read."""
    return [(unread["path"], unread["code"]) for unread in report["unread"]]


@pytest.fixture(name="here")
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("null.py", b"import torch\nx.cuda()\0\n"),
        ("cut.py", HIT.encode()[:-2]),
        ("cut.ipynb", _notebook(HIT).encode()[:-5]),
        ("latin.py", HIT.encode() + "# é\n".encode("latin-1")),
        ("latin.yaml", "device: cuda # é\n".encode("latin-1")),
        ("wide.py", HIT.encode("utf-16-le")),
        ("unknown_encoding.py", b"# coding: xyzzy\n" + HIT.encode()),
        ("python2.py", b"print 'cuda', x\nexec 'x'\n"),
        ("conflict.py", b"<<<<<<< HEAD\n" + HIT.encode() + b"=======\n>>>>>>> b\n"),
        ("conflict.json", b'{\n<<<<<<< HEAD\n"device": "cuda"\n=======\n>>>>>>> b\n}'),
        ("deep.py", b"cuda = " + b"(" * 5000 + b")" * 5000),
        ("deep_blocks.py", b"".join(b" " * n + b"if cuda:\n" for n in range(150))),
        ("deep_chain.py", b"cuda = x" + b".a" * 100_000 + b"\n"),
        ("deep.json", b'{"cuda": ' + b"[" * 100_000),
        ("deep.yaml", b"cuda: " + b"[" * 100_000),
        ("deep.toml", b"cuda = " + b"[" * 100_000),
        ("long.py", b"x = '" + b"cuda " * (_20_MB // 5) + b"'\n"),
        ("long.yaml", b"device: " + b"cuda " * (_20_MB // 5)),
        ("Dockerfile", b"RUN nvidia-smi " + b"\\" * _20_MB),
        ("long.ipynb", _notebook("x = '" + "cuda " * (_20_MB // 5)).encode()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_not_readable(here: Path, name: str, data: bytes) -> None:
    """What is broken, endless or too deep is named with a reason; what is beside it is checked."""
    tree(here, {name: data, "other/beside.py": HIT})
    report = checked(".")

    assert [path for path, _ in reasons(report)] == [name]
    assert all(code != "internal" for _, code in reasons(report))
    assert [found["location"]["path"] for found in report["findings"]] == ["other/beside.py"]


def test_no_permission(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read is named, found in a folder or asked for itself."""
    tree(here, {"shut.py": HIT, "open.py": HIT})
    real = builtins.open

    def refuse(file: Any, *args: Any, **kwargs: Any) -> Any:
        if str(file).endswith("shut.py"):
            raise PermissionError(13, "Permission denied")
        return real(file, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", refuse)

    for asked in (".", "shut.py"):
        assert reasons(checked(asked)) == [("shut.py", "permission")]


def test_links_that_go_round(here: Path) -> None:
    """Links to themselves, to each other and to the folder above end; files are reported once."""
    tree(here, {"a/hit.py": HIT})
    (here / "a" / "up").symlink_to(here)
    (here / "one.py").symlink_to("two.py")
    (here / "two.py").symlink_to("one.py")
    report = checked(".")

    assert [found["location"]["path"] for found in report["findings"]] == ["a/hit.py"]
    assert [path for path, _ in reasons(checked("one.py"))] == ["one.py"]
