"""Snapshots are found by name or path, and a bad one is refused with a reason."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from op_registry import RegistryError, available, load, mismatch
from op_registry.loader import SNAPSHOTS

if TYPE_CHECKING:
    from pathlib import Path

PACKAGED = SNAPSHOTS / "torch-tpu-0.2.0-torch-2.13.json"


@pytest.fixture(name="content")
def _content() -> dict[str, Any]:
    """Return a snapshot of three ops as JSON."""
    content: dict[str, Any] = json.loads(PACKAGED.read_bytes())
    wanted = ("aten.add.Tensor", "aten.mish.default", "aten.nonzero.default")
    content["ops"] = {op: content["ops"][op] for op in wanted}
    return content


def test_names(content: dict[str, Any]) -> None:
    """A version means its newest torch; a full name means itself; None fits the installed torch."""
    assert available() == ["0.2.0+torch2.13", "0.2.0+torch2.14"]
    assert load("0.2.0").torch.startswith("2.14")
    assert load("0.2.0+torch2.13").torch == content["torch"]


def test_a_path_is_read(tmp_path: Path, content: dict[str, Any]) -> None:
    """A user's own file is read, plain or gzipped, and both have the same digest."""
    plain, packed = tmp_path / "own.json", tmp_path / "own.json.gz"
    plain.write_text(json.dumps(content))
    packed.write_bytes(gzip.compress(plain.read_bytes()))

    assert set(load(str(plain)).ops) == set(content["ops"])
    assert load(str(plain)).digest == load(str(packed)).digest


def test_layout_does_not_change_the_digest(tmp_path: Path, content: dict[str, Any]) -> None:
    """Spaces and order are not content; a changed verdict is."""
    one, two, three = (tmp_path / f"{n}.json" for n in "abc")
    one.write_text(json.dumps(content))
    two.write_text(json.dumps(content, indent=3, sort_keys=True))
    content["ops"]["aten.add.Tensor"]["support"] = "unknown"
    three.write_text(json.dumps(content))

    assert load(str(one)).digest == load(str(two)).digest
    assert load(str(one)).digest != load(str(three)).digest


@pytest.mark.parametrize("name", ["9.9", "0.2.0+torch9.9", "./no/such.json", ""])
def test_unknown_names_list_what_there_is(name: str) -> None:
    """A wrong name is refused with the names that exist."""
    with pytest.raises(RegistryError) as error:
        load(name)
    assert "0.2.0+torch2.13" in f"{error.value.message} {error.value.hint}"


def broken(content: dict[str, Any], what: str) -> bytes:
    """Return a file that is wrong in one way."""
    match what:
        case "cut":
            return json.dumps(content).encode()[:500]
        case "not json":
            return b"version https://git-lfs.github.com/spec/v1"
        case "not an object":
            return b"[]"
        case "another schema":
            content["schema"] = "tpu-audit/registry/99"
        case "wrong type":
            content["ops"] = 7
        case "unknown word":
            content["ops"]["aten.add.Tensor"]["support"] = "perhaps"
        case "missing field":
            del content["ops"]["aten.add.Tensor"]["reason"]
        case "deep":
            return b"[" * 100_000
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    "what",
    [
        "cut",
        "not json",
        "not an object",
        "another schema",
        "wrong type",
        "unknown word",
        "missing field",
        "deep",
    ],
)
def test_broken_files_are_refused(tmp_path: Path, content: dict[str, Any], what: str) -> None:
    """Each way of being broken gives an error that names the file, and no other exception."""
    path = tmp_path / "own.json"
    path.write_bytes(broken(content, what))

    with pytest.raises(RegistryError) as error:
        load(str(path))
    assert "own.json" in error.value.message


def test_mismatch_is_said() -> None:
    """Another minor version of torch is worth a sentence; another patch or build is not."""
    snapshot = load("0.2.0+torch2.13")

    assert mismatch(snapshot, "2.13.1+cpu") is None
    assert mismatch(snapshot, None) is None
    assert "2.15.0" in (mismatch(snapshot, "2.15.0") or "")


def test_loading_imports_nothing_heavy() -> None:
    """A registry is read without torch, transformers or pydantic."""
    code = (
        "import sys; from op_registry import load; load('0.2.0');"
        "print(sorted({'torch', 'transformers', 'pydantic', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
