"""The default follows the installed torch; what is wrong with a file is said in detail."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from op_registry import loader
from op_registry.codec import encode
from op_registry.errors import RegistryError
from op_registry.loader import load

if TYPE_CHECKING:
    from pathlib import Path

    from op_registry.schema import Snapshot


def test_version_alone_takes_its_newest_torch() -> None:
    """A bare torch-tpu version means the snapshot with the newest torch."""
    assert load("0.2.0").torch.startswith("2.14.")


@pytest.mark.parametrize(
    ("installed", "expected"),
    [("2.13.0+cpu", "2.13."), ("2.14.9", "2.14."), ("2.99.0", "2.14."), (None, "2.14.")],
)
def test_default_follows_the_installed_torch(
    monkeypatch: pytest.MonkeyPatch, installed: str | None, expected: str
) -> None:
    """Without a name, the snapshot for the installed torch is taken, else the newest."""
    monkeypatch.setattr(loader, "installed_torch", lambda: installed)
    assert load().torch.startswith(expected)


def _broken(raw: dict[str, Any], path: str, value: object) -> bytes:
    *parents, last = path.split("/")
    inner = raw
    for parent in parents:
        inner = inner[parent]
    inner[last] = value
    return json.dumps(raw).encode()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("schema", "tpu-audit/registry/9", "schema 'tpu-audit/registry/9'"),
        ("torch", 2, "header: field `torch`: must be a string, not int"),
        ("colour", "red", "header: unknown field `colour`"),
        ("ops", [], "field `ops` must be an object"),
        ("ops/aten.add.Tensor", 3, "op aten.add.Tensor: must be an object, not int"),
        ("ops/aten.add.Tensor", {}, "op aten.add.Tensor: field `schema` is missing"),
        ("ops/aten.add.Tensor/support", "nativ", "field `support`: 'nativ' is not one of native,"),
        ("ops/aten.add.Tensor/support", ["native"], "field `support`: ['native'] is not one of"),
        ("ops/aten.add.Tensor/cpu_kernel", "yes", "field `cpu_kernel`: must be true or false"),
        ("ops/aten.add.Tensor/ends_in", "aten.a.b", "field `ends_in`: must be a list, not str"),
        ("ops/aten.add.Tensor/hazards", {"slow": "x"}, "field `hazards`: 'slow' is not one of"),
        ("ops/aten.add.Tensor/hazards", 5, "op aten.add.Tensor: field `hazards`"),
        ("ops/aten.add.Tensor/evidence", [{"kind": "lowered"}], "field `detail` is missing"),
    ],
)
def test_wrong_content_is_named(
    tmp_path: Path, small: Snapshot, path: str, value: object, words: str
) -> None:
    """Wrong types and values give an error that names the file, the op, the field and the value."""
    file = tmp_path / "snapshot.json"
    file.write_bytes(_broken(json.loads(encode(small)), path, value))
    with pytest.raises(RegistryError) as caught:
        load(str(file))
    assert words in caught.value.message
    assert str(file) in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.json", b'{"schema": "tpu-audit/registry/1", "ops": {'),
        ("empty.json", b""),
        ("text.json", b"not json"),
        ("list.json", b"[]"),
        ("deep.json", b"[" * 100_000),
        ("bytes.json", b"\xff\xfe\x00"),
        ("cut.json.gz", gzip.compress(b"{}" * 999, mtime=0)[:20]),
        ("plain.json.gz", b"{}"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, content: bytes) -> None:
    """A file that is cut off, empty or something else gives an error with the way out."""
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(RegistryError) as caught:
        load(str(file))
    assert name in caught.value.message
    assert caught.value.hint is not None
    assert "registry build" in caught.value.hint
