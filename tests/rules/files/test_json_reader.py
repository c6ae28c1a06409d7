"""JSON: the same values as the standard library's, with places."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.documents import at, read, values
from tpu_audit.rules.files.errors import NotReadableError
from tpu_audit.rules.files.json_reader import scan
from tpu_audit.rules.text import SourceText


def leaves(value: Any, keys: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Return the scalars of a JSON value by their keys."""
    match value:
        case dict():
            parts = [leaves(item, (*keys, key)) for key, item in value.items()]
        case list():
            parts = [leaves(item, (*keys, place)) for place, item in enumerate(value)]
        case _:
            return {keys: value}
    return {key: item for part in parts for key, item in part.items()}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, -2.5e3, true, null, "x\\u00e9\\n\\ud83d\\ude00"], "b": {"c": {}}, "d": []}',
        '[[[{"a\\"b": "c\\\\"}]]]',
        '"alone"',
        " \n {\t} ",
    ],
)
def test_agrees_with_the_standard_library(text: str) -> None:
    """Every value is what ``json`` reads, and its place holds what ``json`` reads it from."""
    source = SourceText(text)
    found = {entry.keys: entry for entry in scan(source) if not entry.container}

    assert {keys: entry.value for keys, entry in found.items()} == leaves(json.loads(text))
    for entry in found.values():
        assert json.loads(source.slice(entry.span)) == entry.value


def test_places() -> None:
    """Lines and columns count code points; containers reach to their bracket."""
    document = read("json", '{\n  "é": {"quant_method": "gptq"}\n}')

    assert at(document, "é.quant_method") == ('"gptq"', (2, 25))
    assert at(document, "é") == ('{"quant_method": "gptq"}', (2, 8))


def test_editors_json() -> None:
    """Comments and trailing commas, as devcontainer.json has them, are read over."""
    document = read("json", '{ // c\n "runArgs": ["--gpus", "all",], /* d\n */ }')

    assert values(document) == {"runArgs.0": "--gpus", "runArgs.1": "all"}
    assert [word.text for word in document.commands[0].words] == ["--gpus", "all"]


@pytest.mark.parametrize(
    ("text", "flavour"),
    [
        ('{"model_type": "llama"}', "hf-config"),
        ('{"zero_optimization": {"stage": 2}}', "deepspeed"),
        ('{"per_device_train_batch_size": 1, "save_steps": 2}', "training-arguments"),
    ],
)
def test_flavours(text: str, flavour: str) -> None:
    """What the file is for is told by its keys."""
    assert flavour in read("json", text).flavours


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{"a": 1,\n "b" 2}', 2),
        ("[1 2]", 1),
        ("nul", 1),
        ("{}\n{}", 2),
        ('{"a": \n', 2),
        ('{"a": "\\x"}', 1),
        ("", 1),
        ('{"a": "b\n"}', 1),
    ],
)
def test_broken(text: str, line: int) -> None:
    """What is not JSON is refused with the line where it stops being it."""
    with pytest.raises(NotReadableError) as caught:
        read("json", text)
    assert (caught.value.line, caught.value.message.partition(":")[0]) == (line, "not valid JSON")


def test_depth() -> None:
    """What configs never reach is refused at once, not followed until memory ends."""
    assert len(scan(SourceText("[" * 150 + "]" * 150))) == 150
    with pytest.raises(NotReadableError, match="at most 200 levels"):
        scan(SourceText("[" * 100_000 + "]" * 100_000))
