"""PEFT adapters on this machine, and their base models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.configs import BERT, Options, Refused
from tpu_audit.sources.resolve import resolve
from tpu_audit.types.errors import NotAuditedError

if TYPE_CHECKING:
    from pathlib import Path


def _adapter(folder: Path, **fields: Any) -> Path:
    folder.mkdir(exist_ok=True)
    content = {"peft_type": "LORA", "r": 4, "target_modules": ["query"], **fields}
    (folder / "adapter_config.json").write_text(json.dumps(content))
    return folder


@pytest.fixture(name="base")
def _base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    folder.mkdir()
    (folder / "config.json").write_text(BERT)
    return folder


def test_with_its_base(tmp_path: Path, base: Path, options: Options) -> None:
    """The base model's config comes with the adapter's, under the adapter's name."""
    folder = _adapter(tmp_path / "lora", base_model_name_or_path=str(base))
    spec = resolve(str(folder), options())
    assert (spec.id, spec.library, spec.model_type) == (str(folder), "peft", "bert")
    assert spec.adapter is not None
    assert spec.adapter["r"] == 4
    by_file = resolve(str(folder / "adapter_config.json"), options())
    assert (by_file.config, by_file.adapter) == (spec.config, spec.adapter)


def test_base_from_the_catalogue(tmp_path: Path, options: Options) -> None:
    """A hub id is looked up as any target is: here in the built-in catalogue."""
    folder = _adapter(tmp_path / "lora", base_model_name_or_path="openai-community/gpt2")
    spec = resolve(str(folder), options(offline=True))
    assert spec.model_type == "gpt2"
    assert any("catalogue" in note for note in spec.notes)


def test_a_config_beside_the_adapter(tmp_path: Path, options: Options) -> None:
    """A config in the adapter's folder is its base model's: nothing else is looked up."""
    folder = _adapter(tmp_path / "lora", base_model_name_or_path="no/where")
    (folder / "config.json").write_text(BERT)
    spec = resolve(str(folder), options(offline=True))
    assert (spec.library, spec.model_type) == ("peft", "bert")


def test_an_adapter_of_an_adapter(tmp_path: Path, base: Path, refused: Refused) -> None:
    """Adapters on adapters are refused by name."""
    lower = _adapter(tmp_path / "lower", base_model_name_or_path=str(base))
    (lower / "config.json").write_text(BERT)
    upper = _adapter(tmp_path / "upper", base_model_name_or_path=str(lower))
    error = refused(str(upper))
    assert isinstance(error, NotAuditedError)
    assert (error.code, error.skipped) == ("base_unsupported", True)


def test_two_adapters_that_name_each_other(tmp_path: Path, refused: Refused) -> None:
    """A circle ends at once: the base of a base is never looked up."""
    one, two = tmp_path / "one", tmp_path / "two"
    _adapter(one, base_model_name_or_path=str(two))
    _adapter(two, base_model_name_or_path=str(one))
    error = refused(str(one))
    assert isinstance(error, NotAuditedError)
    assert error.code == "base_unsupported"


def test_a_base_that_is_not_there(tmp_path: Path, refused: Refused) -> None:
    """The error names the adapter, the base and how to help."""
    folder = _adapter(tmp_path / "lora", base_model_name_or_path="/no/such/folder")
    error = refused(str(folder))
    assert isinstance(error, NotAuditedError)
    assert error.code == "base_unresolved"
    assert "/no/such/folder" in error.message
    assert error.hint
