"""The journal survives kills, torn lines and other versions."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from op_registry.errors import RegistryError
from op_registry.verify.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

SIGNED = {"lower": "a", "compile": "b"}


def test_resume(tmp_path: Path) -> None:
    """What was put is there for the next process; the latest of a key counts."""
    path = tmp_path / "journal.jsonl"
    with Journal(path, SIGNED) as journal:
        journal.put("lower", ("x", "float32"), {"n": 1})
        journal.put("compile", ("p", "v6e"), {"ok": True})
        journal.put("lower", ("x", "float32"), {"n": 2})

    with Journal(path, SIGNED) as journal:
        assert journal.get("lower", ("x", "float32")) == {"n": 2}
        assert list(journal.items("compile")) == [(("p", "v6e"), {"ok": True})]
        assert journal.get("compile", ("q", "v6e")) is None
        assert not journal.outdated


def test_torn_line(tmp_path: Path) -> None:
    """A line that a kill tore is dropped, and the next one is not glued to it."""
    path = tmp_path / "journal.jsonl"
    with Journal(path, SIGNED) as journal:
        journal.put("lower", ("x",), 1)
        journal.put("lower", ("y",), 2)
    path.write_bytes(path.read_bytes()[:-5])

    with Journal(path, SIGNED) as journal:
        assert journal.get("lower", ("y",)) is None
        journal.put("lower", ("y",), 3)
    with Journal(path, SIGNED) as journal:
        assert [value for _, value in journal.items("lower")] == [1, 3]


def test_another_signature(tmp_path: Path) -> None:
    """Results of other code or versions are passed over and counted, those of the same are kept."""
    path = tmp_path / "journal.jsonl"
    with Journal(path, SIGNED) as journal:
        journal.put("lower", ("x",), 1)
        journal.put("compile", ("p",), 2)

    with Journal(path, SIGNED | {"lower": "new"}) as journal:
        assert journal.get("lower", ("x",)) is None
        assert journal.get("compile", ("p",)) == 2
        assert journal.outdated == {"lower": 1}


def test_one_at_a_time(tmp_path: Path) -> None:
    """Two processes never write one journal."""
    path = tmp_path / "journal.jsonl"
    with Journal(path, SIGNED), pytest.raises(RegistryError, match="another verification"):
        Journal(path, SIGNED)
    with Journal(path, SIGNED):
        pass


@pytest.mark.parametrize("line", [b"{}\n", b"nonsense\n", b"[1]\n"])
def test_not_a_journal(tmp_path: Path, line: bytes) -> None:
    """Another file is refused with its line, not overwritten."""
    path = tmp_path / "journal.jsonl"
    path.write_bytes(line)

    with pytest.raises(RegistryError, match=r"journal\.jsonl:1: not a line of a journal"):
        Journal(path, SIGNED)
    assert path.read_bytes() == line


def test_threads(tmp_path: Path) -> None:
    """Lines of several threads do not mix."""
    path = tmp_path / "journal.jsonl"
    with Journal(path, SIGNED) as journal:

        def put(thread: int) -> None:
            for number in range(100):
                journal.put("lower", (str(thread), str(number)), "x" * 500)

        threads = [threading.Thread(target=put, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    with Journal(path, SIGNED) as journal:
        assert len(list(journal.items("lower"))) == 400
