"""TOML: the same values as the standard library's, with places."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.rules.files.test_json_reader import leaves
from tests.support.documents import at, pins, read, values
from tpu_audit.rules.files.errors import NotReadableError

TEXT = '''\
# top
title = "é" # c
a.b."c d" = {x = 1, y = [1, 2.5, true, [ "q" ]], 'z' = 'r'}
[tool.one]
multi = """
first "quoted" line
second"""
raw = \'\'\'it\'s\'\'\'
list = [
  "a", # c
  "b",
]
[[tool.many]]
n = 1
[[tool.many]]
n = 2
[tool.many.inner]
k = "v"
[tool."quoted.name"]
hex = 0xff
'''


def test_agrees_with_the_standard_library() -> None:
    """Every value is what ``tomllib`` reads, and its place holds what ``tomllib`` reads it from."""
    document = read("toml", TEXT)
    found = {entry.keys: entry for entry in document.entries if not entry.container}

    assert {keys: entry.value for keys, entry in found.items()} == leaves(tomllib.loads(TEXT))
    for entry in found.values():
        literal: dict[str, Any] = tomllib.loads(f"x = {document.source.slice(entry.span)}")
        assert literal["x"] == entry.value


def test_places() -> None:
    """Lines and columns count code points; keys have places."""
    document = read("toml", TEXT)
    (entry,) = [e for e in document.entries if e.keys == ("tool", "many", 1, "inner", "k")]

    assert at(document, "title") == ('"é"', (2, 9))
    assert at(document, "a.b.c d.y.3.0") == ('"q"', (3, 42))
    assert entry.key_span is not None
    assert document.source.slice(entry.key_span) == "k"


def test_dates_are_text() -> None:
    """Dates and times come as written."""
    assert values(read("toml", "d = 1979-05-27 07:32:00\n")) == {"d": "1979-05-27 07:32:00"}


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        (
            (
                '[project]\ndependencies = ["torch==2.1"]\n'
                '[project.optional-dependencies]\ngpu = ["flash-attn"]\n'
                '[dependency-groups]\ndev = ["cupy", {include-group = "x"}]\n'
            ),
            "pyproject.toml",
            [("torch", "==2.1"), ("flash-attn", ""), ("cupy", "")],
        ),
        (
            (
                '[tool.poetry.dependencies]\ntorch = "^2.1"\nx = "*"\n'
                'xformers = {version = "0.1", extras = ["y"]}\n'
                'apex = {git = "https://github.com/NVIDIA/apex"}\n'
            ),
            "pyproject.toml",
            [("torch", "^2.1"), ("x", ""), ("xformers", "0.1"), ("apex", "")],
        ),
        ('[[package]]\nname = "nvidia-x"\nversion = "1"\n', "uv.lock", [("nvidia-x", "==1")]),
        ('[packages]\ntorch = "==2"\n', "Pipfile", [("torch", "==2")]),
    ],
)
def test_requirements(text: str, path: str, found: list[tuple[str, str]]) -> None:
    """Dependencies are found in every table that declares them, and nowhere else."""
    assert pins(read("toml", text, path)) == found


@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2\n", "[a", "a = [1,\n", "= 1\n"])
def test_broken(text: str) -> None:
    """What is not TOML is refused."""
    with pytest.raises(NotReadableError, match="not valid TOML"):
        read("toml", text)


def test_too_deep() -> None:
    """Nesting beyond what the interpreter follows is refused, not crashed on."""
    with pytest.raises(NotReadableError, match="not valid TOML"):
        read("toml", "a = " + "[" * 50_000)
