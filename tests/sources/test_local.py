"""Folders and files on this machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.configs import BERT, CONFIGS, Options, Refused
from tpu_audit.sources.resolve import resolve
from tpu_audit.types.errors import ExitCode, NotAuditedError, Stage

if TYPE_CHECKING:
    from pathlib import Path


def test_folder(options: Options) -> None:
    """A folder gives its config and processor config, with config source ``local``."""
    folder = CONFIGS / "microsoft/wavlm-base-plus"
    spec = resolve(str(folder), options())
    assert (spec.id, spec.revision, spec.config_source) == (str(folder), None, "local")
    assert (spec.model_type, spec.architecture) == ("wavlm", "WavLMModel")
    assert spec.processor_configs["preprocessor_config.json"]["sampling_rate"] == 16000
    assert spec.files == ("config.json", "preprocessor_config.json")
    assert spec.library == "transformers"


def test_config_path_reads_its_neighbours(options: Options) -> None:
    """A path to config.json means the model in its folder."""
    path = CONFIGS / "meta-llama/Llama-3.2-3B-Instruct/config.json"
    spec = resolve(str(path), options())
    assert spec.id == str(path)
    assert spec.generation_config is not None
    assert spec.config["num_hidden_layers"] == 28


def test_config_of_any_name(tmp_path: Path, options: Options) -> None:
    """A JSON file of another name is a config by itself."""
    (tmp_path / "variant.json").write_text(BERT)
    (tmp_path / "config.json").write_text("{}")
    spec = resolve(str(tmp_path / "variant.json"), options())
    assert spec.architecture == "BertForMaskedLM"


@pytest.mark.parametrize(
    ("path", "code", "skipped", "words"),
    [
        ("BAAI/bge-large-zh-v1.5", "lfs_pointer", False, "Git LFS pointer"),
        ("briaai/BRIA-3.2/transformer", "malformed_config", False, "line 1 column 16"),
        ("InvokeAI-conf/stable-diffusion-1.5-v_prediction", "no_config", False, "no config.json"),
    ],
)
def test_real_models_that_cannot_be_traced(
    refused: Refused, path: str, code: str, skipped: bool, words: str
) -> None:
    """Published oddities: each has its own code, and skips are told from failures."""
    error = refused(str(CONFIGS / path))
    assert isinstance(error, NotAuditedError)
    assert (error.code, error.skipped, error.stage) == (code, skipped, Stage.CONFIG)
    assert words in f"{error.message} {error.hint}"
    assert error.exit_code is ExitCode.INCOMPLETE


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("3L0L0/FLAN-T5-Motivation-Model/adapter_config.json", "base_unresolved"),
        (
            "InvokeAI-conf/stable-diffusion-1.5-v_prediction/scheduler/scheduler_config.json",
            "no_model",
        ),
    ],
)
def test_files_that_are_no_model_config(refused: Refused, path: str, code: str) -> None:
    """An adapter's or a scheduler's file given by path is recognised by its content."""
    error = refused(str(CONFIGS / path))
    assert isinstance(error, NotAuditedError)
    assert error.code == code


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        ({"weights.gguf": ""}, "gguf_only", "weights.gguf"),
        ({"a.txt": ""}, "no_config", "found: a.txt"),
        ({}, "no_config", "found: nothing"),
        (
            {"config.json": '{"_class_name": "DDIMScheduler", "_diffusers_version": "0.1"}'},
            "no_model",
            "DDIMScheduler",
        ),
        ({"adapter_config.json": "{"}, "malformed_config", "adapter_config.json"),
        ({"adapter_config.json": '{"peft_type": "LORA"}'}, "adapter_only", "names no base model"),
        ({"model_index.json": "[]"}, "malformed_config", "model_index.json"),
        ({"model_index.json": '{"vae": [null, null]}'}, "no_model", "names no model"),
    ],
)
def test_other_kinds(
    tmp_path: Path, refused: Refused, files: dict[str, str], code: str, words: str
) -> None:
    """GGUF, empty, scheduler and adapter folders are told apart, broken markers included."""
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    error = refused(str(tmp_path))
    assert isinstance(error, NotAuditedError)
    assert error.code == code
    assert words in f"{error.message} {error.hint}"


@pytest.mark.parametrize(
    ("config", "library", "architecture"),
    [
        ({"architecture": "resnet50", "pretrained_cfg": {}}, "timm", "resnet50"),
        ({"architecture": "resnet50", "library_name": "timm"}, "timm", "resnet50"),
        (
            {"_class_name": "UNet2DConditionModel", "_diffusers_version": "0.1"},
            "diffusers",
            "UNet2DConditionModel",
        ),
        (
            {"architecture": "resnet18", "pretrained_cfg": {}, "model_type": "timm_wrapper"},
            "transformers",
            None,
        ),
    ],
)
def test_libraries(
    tmp_path: Path,
    options: Options,
    config: dict[str, object],
    library: str,
    architecture: str | None,
) -> None:
    """A config alone says which library loads it, and which class."""
    (tmp_path / "config.json").write_text(json.dumps(config))
    spec = resolve(str(tmp_path), options())
    assert (spec.library, spec.architecture) == (library, architecture)


@pytest.mark.parametrize(
    ("config", "library", "words"),
    [
        ({"model_type": 3, "architectures": ["X"]}, "transformers", "model_type is 3"),
        ({"model_type": "bert", "architectures": "BertModel"}, "transformers", "architectures is"),
        ({"model_type": "bert", "architectures": [1, None]}, "transformers", "architectures is"),
        ({"model_type": "bert", "auto_map": ["x"]}, "transformers", "auto_map is"),
        ({"hidden_size": 8}, "unknown", "names neither"),
        ({}, "unknown", "names neither"),
        ({"model_type": None, "architectures": None}, "unknown", "names neither"),
    ],
)
def test_wrong_types_are_noted_and_kept(
    tmp_path: Path, options: Options, config: dict[str, object], library: str, words: str
) -> None:
    """Fields of the wrong type cost a note; whether it can be traced is the tracer's to say."""
    (tmp_path / "config.json").write_text(json.dumps(config))
    spec = resolve(str(tmp_path), options())
    assert (spec.library, dict(spec.config)) == (library, config)
    assert [note for note in spec.notes if words in note]


def test_real_oddities_resolve(options: Options) -> None:
    """Published configs with Infinity, CRLF or no model_type are usable."""
    infinity = resolve(str(CONFIGS / "nvidia/Nemotron-H-56B-Base-8K"), options())
    assert [note for note in infinity.notes if "Infinity" in note]
    crlf = resolve(str(CONFIGS / "tsvetcov/audio_homework"), options())
    assert crlf.model_type == "whisper"
    assert crlf.notes == ()
    nameless = resolve(str(CONFIGS / "DurdenP/prot_bert"), options())
    assert (nameless.model_type, nameless.architecture) == (None, "BertForMaskedLM")
    old = resolve(str(CONFIGS / "rxn4chemistry/rxnfp-bert_ft"), options())
    assert old.library == "unknown"


def test_every_kept_config_resolves_or_is_typed(options: Options) -> None:
    """No file among the test data, real and broken, gives anything but a spec or an outcome."""
    paths = sorted(CONFIGS.rglob("*.json"))
    outcomes = []
    for path in paths:
        try:
            outcomes.append(resolve(str(path), options()).config_source)
        except NotAuditedError as error:
            outcomes.append(error.code)
    assert outcomes.count("local") >= len(paths) - 7


def test_broken_side_files_cost_a_note(tmp_path: Path, options: Options) -> None:
    """A broken generation or processor config does not stop the audit."""
    (tmp_path / "config.json").write_text(BERT)
    (tmp_path / "generation_config.json").write_text("{")
    (tmp_path / "processor_config.json").write_text("[]")
    spec = resolve(str(tmp_path), options())
    assert spec.generation_config is None
    assert spec.processor_configs == {}
    assert sum("was ignored" in note for note in spec.notes) == 2


def test_code_and_index_files_are_listed_not_run(tmp_path: Path, options: Options) -> None:
    """Python files are handed on as paths; nothing imports them."""
    (tmp_path / "config.json").write_text(BERT)
    (tmp_path / "modeling_x.py").write_text("raise SystemExit('was run')")
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "hook.py").write_text("")
    spec = resolve(str(tmp_path), options())
    assert spec.code_files == {"modeling_x.py": str(tmp_path / "modeling_x.py")}
    assert list(spec.index_files) == ["model.safetensors.index.json"]


def test_dangling_link(tmp_path: Path, refused: Refused) -> None:
    """A config.json that links to nothing is unreadable, not missing."""
    (tmp_path / "config.json").symlink_to(tmp_path / "gone")
    error = refused(str(tmp_path))
    assert isinstance(error, NotAuditedError)
    assert error.code == "unreadable"


def test_large_config(tmp_path: Path, refused: Refused) -> None:
    """A config over the limit is refused before it is read."""
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(17 << 20)
    error = refused(str(tmp_path))
    assert isinstance(error, NotAuditedError)
    assert error.code == "too_large"


def test_huge_folder_is_listed_in_part(
    tmp_path: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with more files than the cap still gives its config, and says so."""
    monkeypatch.setattr("tpu_audit.sources.local._MAX_FILES", 3)
    (tmp_path / "config.json").write_text(BERT)
    (tmp_path / "deep").mkdir()
    for number in range(9):
        (tmp_path / "deep" / f"{number}").touch()
    spec = resolve(str(tmp_path), options())
    assert len(spec.files) == 3
    assert [note for note in spec.notes if "were listed" in note]
