"""The built-in catalogue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tpu_audit.sources import catalogue
from tpu_audit.sources.resolve import resolve
from tpu_audit.types.errors import NotAuditedError

if TYPE_CHECKING:
    from tests.support.configs import Options, Refused

SOURCE = re.compile(r"[\w.\-]+/[\w.\-]+@[0-9a-f]{40}:\S+|PyPI [\w.\-]+ [\w.]+ \(\w+\):\S+")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let only the catalogue answer."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_bert(options: Options) -> None:
    """The README's model answers under its old name with its published values."""
    spec = resolve("bert-base-uncased", options())
    assert (spec.id, spec.redirected_from) == ("google-bert/bert-base-uncased", "bert-base-uncased")
    assert (spec.config_source, spec.revision) == ("catalogue", None)
    assert spec.architecture == "BertForMaskedLM"
    expected = {
        "vocab_size": 30522,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    }
    assert {key: spec.config[key] for key in expected} == expected
    assert [note for note in spec.notes if "built-in catalogue" in note]


def test_every_entry_resolves_cleanly(options: Options) -> None:
    """Each of about forty models parses without oddities and names its class."""
    assert 40 <= len(catalogue.entries()) <= 60
    for entry in catalogue.entries():
        spec = resolve(entry.id, options())
        assert spec.architecture, entry.id
        assert spec.model_type, entry.id
        assert len(spec.notes) == 1, spec.notes


def test_every_entry_has_source_and_licence() -> None:
    """Each file says which public repository, commit and path it came from."""
    for entry in catalogue.entries():
        assert entry.licence, entry.id
        folder = catalogue.FOLDER / entry.id
        assert set(entry.sources) == {path.name for path in folder.iterdir()}, entry.id
        for source in entry.sources.values():
            assert SOURCE.fullmatch(source), source


def test_nothing_lies_beside_the_index() -> None:
    """Every file of the catalogue belongs to an entry, and ids are unique under all names."""
    listed = {
        catalogue.FOLDER / entry.id / name
        for entry in catalogue.entries()
        for name in entry.sources
    }
    present = set(catalogue.FOLDER.rglob("*.json")) - {catalogue.FOLDER / "index.json"}
    assert listed == present
    names = [name for entry in catalogue.entries() for name in (entry.id, *entry.former_ids)]
    assert len(names) == len(set(names))


def test_kinds_of_models_covered(options: Options) -> None:
    """Decoders, encoders, seq2seq, speech, vision, image-text and expert models are there."""
    specs = [resolve(entry.id, options()) for entry in catalogue.entries()]
    types = {spec.model_type for spec in specs}
    assert types >= {
        "bert", "roberta", "distilbert", "mpnet", "xlm-roberta", "esm",
        "gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text", "falcon", "phi3",
        "t5", "bart", "m2m_100",
        "whisper", "wav2vec2", "wavlm", "clap",
        "vit", "clip", "dinov2", "grounding-dino",
        "llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "mllama", "gemma4",
        "mixtral", "gpt_oss", "qwen3_5_moe", "deepseek_v3",
    }  # fmt: skip


def test_a_revision_is_not_answered(refused: Refused, options: Options) -> None:
    """The catalogue knows default branches only: a commit is not silently replaced."""
    assert resolve("gpt2@main", options()).config_source == "catalogue"
    error = refused("gpt2@v1")
    assert isinstance(error, NotAuditedError)
    assert error.code == "offline_not_cached"
