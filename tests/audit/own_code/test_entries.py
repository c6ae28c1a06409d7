"""Where own code begins, as configs say it in the wild."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tpu_audit.audit.own_code.entries import entries_of
from tpu_audit.types.model import ModelSpec

if TYPE_CHECKING:
    from pathlib import Path


def spec(config: dict[str, Any], **changes: Any) -> ModelSpec:
    """Return a model of this config."""
    values: dict[str, Any] = {"target": "x", "id": "x", "revision": None, "config_source": "local"}
    return ModelSpec(**values, config=config, **changes)


def test_auto_map() -> None:
    """Classes and files of models, configs and tokenizers, of which either may be null."""
    auto_map = {
        "AutoModel": "modeling_x.XModel",
        "AutoConfig": "sub/configuration_x.XConfig",
        "AutoTokenizer": ["tokenization_x.XTokenizer", None],
        "AutoOther": 3,
    }
    found = entries_of(spec({"auto_map": auto_map}))
    assert list(found.files) == ["modeling_x.py", "sub/configuration_x.py", "tokenization_x.py"]
    assert found.classes == {"XModel", "XConfig", "XTokenizer"}
    assert (found.alone, found.elsewhere) == ({}, {})


def test_parts_of_composite_configs_and_processors() -> None:
    """A language model within a config, and a processor's own config, name code too."""
    config = {"llm_config": {"auto_map": {"AutoModel": "modeling_l.L"}}, "auto_map": None}
    processor = {"auto_map": {"AutoImageProcessor": "image_x.P"}}
    found = entries_of(spec(config, processor_configs={"preprocessor_config.json": processor}))
    assert list(found.files) == ["modeling_l.py", "image_x.py"]


def test_code_of_other_repositories() -> None:
    """A reference to another repository is kept apart: its files are not here."""
    found = entries_of(spec({"auto_map": {"AutoModel": "org/other--modeling_x.XModel"}}))
    assert (list(found.files), list(found.elsewhere)) == ([], ["org/other"])


def test_pipelines() -> None:
    """A pipeline's file counts, whatever transformers has; its class is not part of loading."""
    pipelines = {"pairs": {"impl": "pairs.PairPipeline"}, "odd": "text"}
    found = entries_of(spec({"custom_pipelines": pipelines}))
    assert (list(found.files), list(found.alone)) == (["pairs.py"], ["pairs.py"])
    assert found.classes == set()


def test_modules_of_sentence_transformers(tmp_path: Path) -> None:
    """Classes of the repository are told from those of the library by their files."""
    path = tmp_path / "modules.json"
    kinds = ["custom_st.Transformer", "sentence_transformers.models.Pooling", None]
    path.write_text(json.dumps([{"type": kind} for kind in kinds]))
    files = {"code_files": {"custom_st.py": "?"}, "text_files": {"modules.json": str(path)}}
    found = entries_of(spec({}, **files))
    assert (list(found.alone), found.classes) == (["custom_st.py"], {"Transformer"})


@pytest.mark.parametrize("content", ["", "{", "3", "null", '{"type": 1}', "[1, [2]]"])
def test_broken_modules(tmp_path: Path, content: str) -> None:
    """A list of modules that is none costs nothing."""
    path = tmp_path / "modules.json"
    path.write_text(content)
    assert entries_of(spec({}, text_files={"modules.json": str(path)})).files == {}


@pytest.mark.parametrize(
    "config", [{"auto_map": []}, {"auto_map": {"A": ""}}, {"auto_map": {"A": "noclass"}}]
)
def test_odd_maps(config: dict[str, Any]) -> None:
    """Values that name no class name no file."""
    assert entries_of(spec(config)).files == {}
