"""sentence-transformers repositories, in the layouts of today and of earlier."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.configs import BERT, LIBRARIES, Options
from tpu_audit.sources.resolve import resolve

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("folder", "kinds"),
    [
        ("sentence", ["Transformer", "Pooling", "Dense", "Normalize"]),
        ("sentence-old", ["Transformer", "Pooling"]),
    ],
)
def test_modules(options: Options, folder: str, kinds: list[str]) -> None:
    """The modules come in order with their configs, the transformer's being the model's."""
    spec = resolve(str(LIBRARIES / folder), options())
    assert spec.library == "sentence-transformers"
    assert spec.model_type == "bert"
    assert [module["type"].rpartition(".")[2] for module in spec.modules] == kinds
    assert spec.modules[1]["config"]["word_embedding_dimension"] == 32


@pytest.mark.parametrize("content", ["[]", "{", "{}", '[{"no": "type"}]', "[3]"])
def test_broken_lists(tmp_path: Path, options: Options, content: str) -> None:
    """A list of modules that is none costs a note, and the transformer is still there."""
    (tmp_path / "config.json").write_text(BERT)
    (tmp_path / "modules.json").write_text(content)
    spec = resolve(str(tmp_path), options())
    assert (spec.library, spec.modules) == ("sentence-transformers", ())
    assert any("modules.json" in note for note in spec.notes)


def test_a_broken_module(tmp_path: Path, options: Options) -> None:
    """A module whose config cannot be read stays in the chain, without it."""
    (tmp_path / "config.json").write_text(BERT)
    rows = [{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": "1_Pooling"}]
    (tmp_path / "modules.json").write_text(json.dumps(rows))
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling/config.json").write_text("{")
    spec = resolve(str(tmp_path), options())
    assert "config" not in spec.modules[1]
    assert any("1_Pooling/config.json was ignored" in note for note in spec.notes)
