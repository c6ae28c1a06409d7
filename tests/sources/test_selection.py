"""Which files are read."""

from __future__ import annotations

import pytest

from tpu_audit.sources.selection import (
    MAX_ALL_CODE_BYTES,
    MAX_CODE_BYTES,
    MAX_CODE_FILES,
    MAX_INDEX_BYTES,
    MAX_TEXT_FILES,
    is_text,
    select_files,
)


def test_weights_and_vocabularies_are_never_chosen() -> None:
    """Only configs, code and weight indices are read; the config comes first."""
    sizes = dict.fromkeys(
        [
            "model.safetensors",
            "pytorch_model.bin",
            "tokenizer.json",
            "vocab.txt",
            "tokenizer_config.json",
            "README.md",
            "modeling_x.py",
            "model.safetensors.index.json",
            "generation_config.json",
            "preprocessor_config.json",
            "config.json",
            "sub/config.json",
        ],
        10,
    )
    assert select_files(sizes).names == (
        "config.json",
        "generation_config.json",
        "preprocessor_config.json",
        "modeling_x.py",
        "model.safetensors.index.json",
    )


def test_limits_hold_per_kind() -> None:
    """A file over its limit is left out; code that is left out is told, an index is not."""
    sizes = {"a.py": MAX_CODE_BYTES + 1, "b.py": None, "w.index.json": MAX_INDEX_BYTES + 1}
    selection = select_files(sizes)
    assert selection.names == ("b.py",)
    assert len(selection.notes) == 1
    assert "a.py" in selection.notes[0]


def test_number_of_code_files_is_bounded() -> None:
    """A repository of thousands of scripts costs a bounded number of requests, top level first."""
    sizes = {f"deep/er/s{n}.py": 1 for n in range(500)} | {"modeling_x.py": 1}
    selection = select_files(sizes)
    assert len(selection.names) == MAX_CODE_FILES
    assert selection.names[0] == "modeling_x.py"
    assert selection.notes == ("401 of 501 Python files were not read",)


def test_all_code_together_is_bounded() -> None:
    """Files of the greatest size allowed are read until they are too many bytes; that is told."""
    room = MAX_ALL_CODE_BYTES // MAX_CODE_BYTES
    sizes = {f"s{n:02}.py": MAX_CODE_BYTES for n in range(room + 2)}
    sizes["a.py"] = 2 * MAX_ALL_CODE_BYTES
    selection = select_files(sizes)
    assert selection.names == tuple(f"s{n:02}.py" for n in range(room))
    assert selection.notes[0].startswith("a.py was not read")
    assert selection.notes[1:] == (f"2 of {len(sizes)} Python files were not read",)


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        *((name, True) for name in ("requirements.txt", "docker/Dockerfile", "Dockerfile.gpu")),
        *((name, True) for name in ("requirements-gpu.txt", "train/env.yml", "pyproject.toml")),
        *((name, True) for name in ("ds_z3_config.json", "zero3.json", "my_deepspeed.json")),
        *((name, False) for name in ("vocab.txt", "merges.txt", "tokenizer.json", "README.md")),
        *((name, False) for name in ("vocab.json", "added_tokens.json", ".github/ci.yml")),
        *((name, False) for name in ("zeroshot.json", "model.safetensors.index.json", "a.yaml.gz")),
    ],
)
def test_files_around_the_code(name: str, chosen: bool) -> None:
    """Requirements, images and YAML are read; JSON only where its name tells that it is no data."""
    assert is_text(name) is chosen
    assert (name in select_files({name: 1}).names) is (chosen or name.endswith("index.json"))


def test_number_of_files_around_the_code_is_bounded() -> None:
    """A folder of thousands of YAML files costs few requests, and the rest is told."""
    selection = select_files({f"runs/{n:04}.yaml": 1 for n in range(1000)} | {"env.yml": 1})
    assert len(selection.names) == MAX_TEXT_FILES
    assert selection.names[0] == "env.yml"
    (note,) = selection.notes
    assert note.startswith("981 of 1001 files around the code")


def test_the_modules_of_a_sentence_model_are_read() -> None:
    """``modules.json`` says what runs after the transformer, each with a config in its folder."""
    names = {"config.json": 1, "modules.json": 1, "1_Pooling/config.json": 1, "a/b/config.json": 1}
    selected = select_files(names).names
    assert set(selected) == {"config.json", "modules.json", "1_Pooling/config.json"}


def test_the_components_of_a_pipeline_are_read() -> None:
    """Each folder's configs are read; in a repository of one model no folder is."""
    parts = {"unet/config.json": 1, "unet/weights.bin": 1, "enc/generation_config.json": 1}
    with_index = select_files({"model_index.json": 1, "enc/config.json": 1, **parts}).names
    assert set(with_index) == {
        "model_index.json",
        "enc/config.json",
        "enc/generation_config.json",
        "unet/config.json",
    }
    assert select_files({"config.json": 1, **parts}).names == ("config.json",)
