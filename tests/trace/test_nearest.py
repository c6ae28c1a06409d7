"""Which native class stands in for one that only a repository's code has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tpu_audit.trace.derived import native_bases
from tpu_audit.trace.nearest import nearest, stand_in
from tpu_audit.types.model import ModelSpec, class_name

if TYPE_CHECKING:
    from pathlib import Path

SIZES = {
    "vocab_size": 64,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}


def spec(config: dict[str, object], code: dict[str, str] | None = None) -> ModelSpec:
    """Return the spec of a repository with that config and those code files."""
    return ModelSpec(
        target="x",
        id="x",
        revision=None,
        config_source="local",
        config=config,
        code_files=code or {},
    )


def mapped(architecture: str, auto: dict[str, str], **more: object) -> dict[str, object]:
    """Return a config whose class is the repository's own."""
    return {"architectures": [architecture], "auto_map": auto, **more}


def test_the_class_of_the_type_and_task() -> None:
    """A known model type gives the class for the task that ``auto_map`` names."""
    auto = {"AutoModel": "m.NVLlamaModel", "AutoModelForCausalLM": "m.NVLlamaForCausalLM"}
    found = nearest(spec(mapped("NVLlamaForCausalLM", auto, model_type="llama", **SIZES)))

    assert found is not None
    assert (found.model_class.__name__, found.same) == ("LlamaForCausalLM", False)
    assert "'llama'" in found.reason


def test_the_task_is_that_of_the_model_s_own_class() -> None:
    """Where the named class is the base, its base stands in, whatever else is mapped."""
    auto = {"AutoModelForCausalLM": "m.Other", "AutoModel": "m.Mine"}
    found = nearest(spec(mapped("Mine", auto, model_type="qwen3", **SIZES)))

    assert found is not None
    assert found.model_class.__name__ == "Qwen3Model"


@pytest.mark.parametrize(
    ("name", "model_type", "native", "parts"),
    [
        ("PhiMoEForCausalLM", "phimoe", "PhimoeForCausalLM", ()),
        (
            "KimiK25ForConditionalGeneration",
            "kimi_k25",
            "Kimi_K25ForConditionalGeneration",
            ("text_config", "vision_config"),
        ),
    ],
)
def test_another_spelling_is_the_same_class(
    name: str, model_type: str, native: str, parts: tuple[str, ...]
) -> None:
    """A class that transformers loads for the type and writes otherwise is no stand-in."""
    auto = {"AutoModelForCausalLM": f"m.{name}"}
    described: dict[str, Any] = {part: {} for part in parts} or SIZES
    config = mapped(name, auto, model_type=model_type, **described)
    found = nearest(spec(config))

    assert found is not None
    assert (found.model_class.__name__, found.same) == (native, True)
    assert stand_in(spec(config)) is None


def test_the_class_that_auto_map_names() -> None:
    """A class of ``auto_map`` that transformers has goes before anything weaker."""
    auto = {"AutoModelForCausalLM": "m.LlamaForCausalLM"}
    config = mapped("LlamaForCausalLMNext", auto, model_type="qwen3", **SIZES)
    found = nearest(spec(config))

    assert found is not None
    assert found.model_class.__name__ == "LlamaForCausalLM"
    assert "auto_map" in found.reason


def test_a_class_that_the_config_has_no_sizes_for_is_passed_over() -> None:
    """The name alone does not do: the config must give that class's sizes."""
    auto = {"AutoModelForCausalLM": "m.LlamaForCausalLM"}
    assert nearest(spec(mapped("Next", auto, model_type="nope", hidden_size=16))) is None
    assert nearest(spec(mapped("Next", auto, model_type="nope", **SIZES))) is not None


def test_a_config_of_another_making_is_of_no_type() -> None:
    """A known type does not do either where the config names its parts in its own way."""
    auto = {"AutoModelForCausalLM": "m.GlmasrForConditionalGeneration"}
    own = {"lm_config": {"hidden_size": 16}, "whisper_config": {"d_model": 16}}
    config = mapped("GlmasrForConditionalGeneration", auto, model_type="glmasr", **own)
    assert nearest(spec(config)) is None

    native: dict[str, Any] = {"text_config": {}, "audio_config": {}}
    assert nearest(spec({**config, **native})) is not None


def test_sizes_may_have_another_name() -> None:
    """GPT-2 calls its sizes n_embd, n_layer and n_head."""
    sizes = {"vocab_size": 64, "n_embd": 16, "n_layer": 1, "n_head": 2}
    auto = {"AutoModelForCausalLM": "m.GPT2LMHeadModel"}
    assert nearest(spec(mapped("Next", auto, **sizes))) is not None


def test_the_class_that_the_code_derives_from(tmp_path: Path) -> None:
    """Bases are read from the source, through the repository's own classes, and never run."""
    touched = tmp_path / "ran"
    code = tmp_path / "modeling_mine.py"
    code.write_text(
        "from transformers import LlamaForCausalLM as Base\n"
        f"open({str(touched)!r}, 'w')\n"
        "class Middle(Base): pass\n"
        "class MineForCausalLM(Middle): pass\n"
    )
    auto = {"AutoModelForCausalLM": "modeling_mine.MineForCausalLM"}
    files = {"modeling_mine.py": str(code)}
    config = mapped("MineForCausalLM", auto, model_type="mine", **SIZES)
    found = nearest(spec(config, files))

    assert found is not None
    assert found.model_class.__name__ == "LlamaForCausalLM"
    assert found.reason == "MineForCausalLM derives from LlamaForCausalLM"
    assert not touched.exists()


def test_a_shared_base_is_no_model(tmp_path: Path) -> None:
    """``LlamaPreTrainedModel`` has no forward: deriving from it says nothing."""
    code = tmp_path / "m.py"
    code.write_text(
        "import transformers\nclass Mine(transformers.LlamaPreTrainedModel):\n    pass\n"
    )
    auto = {"AutoModel": "m.Mine"}
    assert nearest(spec(mapped("Mine", auto, **SIZES), {"m.py": str(code)})) is None


def test_nothing_is_near() -> None:
    """An unknown type with classes of its own has no stand-in, however familiar the names."""
    auto = {"AutoModelForCausalLM": "m.LlavaLlamaForCausalLM"}
    assert nearest(spec(mapped("LlavaLlamaForCausalLM", auto, model_type="llava_llama"))) is None


def test_only_repositories_with_code_have_one() -> None:
    """A misspelt class without ``auto_map`` is an error, not a stand-in."""
    assert nearest(spec({"architectures": ["Bort"], "model_type": "bert"})) is None


def test_bases_across_files_and_broken_ones(tmp_path: Path) -> None:
    """Modules of transformers count, files that do not parse say nothing, cycles end."""
    (tmp_path / "a.py").write_text(
        "from transformers.models.llama.modeling_llama import LlamaModel\n"
        "class A(LlamaModel, Mixin): pass\nclass Loop(Loop): pass\n"
    )
    (tmp_path / "b.py").write_text("from .a import A\nclass B(A): pass\n")
    (tmp_path / "c.py").write_text("class (")
    files = {path.name: str(path) for path in sorted(tmp_path.iterdir())} | {"gone.py": "/gone.py"}

    assert native_bases(files, "B") == ["LlamaModel"]
    assert native_bases(files, "Loop") == []
    assert native_bases(files, "Unknown") == []


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("modeling_x.XModel", "XModel"),
        ("org/name--modeling_x.XModel", "XModel"),
        (["tokenization_x.XTokenizer", None], None),
        ("", None),
        (3, None),
    ],
)
def test_entries_of_auto_map(entry: object, name: str | None) -> None:
    """An entry names a class, perhaps of another repository; anything else names none."""
    assert class_name(entry) == name
