"""Which files are read."""

from __future__ import annotations

from tpu_audit.sources.selection import (
    MAX_CODE_BYTES,
    MAX_CODE_FILES,
    MAX_INDEX_BYTES,
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
