"""YAML: what its entries say and where they stand."""

from __future__ import annotations

import pytest

from tests.support.documents import at, pins, read, start, values, words
from tpu_audit.rules.files.errors import NotReadableError

POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: é  # a comment
      resources: { limits: { nvidia.com/gpu: 1, "cpu": '2' } }
      command: ["sh", "-c", "nvidia-smi && python x.py"]
"""


def test_values_and_places() -> None:
    """Block and flow style, quotes and code points: each value with its text and its start."""
    document = read("yaml", POD)
    limits = "spec.containers.0.resources.limits"

    assert at(document, "spec.containers.0.name") == ("é", (5, 13))
    assert at(document, f"{limits}.nvidia.com/gpu") == ("1", (6, 46))
    assert at(document, f"{limits}.cpu") == ("'2'", (6, 56))
    found = values(document)
    assert (found[f"{limits}.nvidia.com/gpu"], found[f"{limits}.cpu"]) == (1, "2")
    assert document.flavours == {"kubernetes"}


def test_key_places() -> None:
    """A key has a place of its own, quotes included; an item of a sequence has none."""
    document = read("yaml", 'a: {"b c": [1]}\n')
    spans = {entry.keys: entry.key_span for entry in document.entries}

    assert spans["a", "b c", 0] is None
    assert document.source.slice(spans["a", "b c"]) == '"b c"'  # type: ignore[arg-type] # not None


def test_containers_end_at_their_content() -> None:
    """A block mapping's place ends with its last value, not at the comment behind it."""
    document = read("yaml", "a:\n  b: 1\n  c: 2  # x\n\n# y\nd: 3\n")
    (a,) = [entry for entry in document.entries if entry.keys == ("a",)]

    assert document.source.slice(a.span) == "b: 1\n  c: 2"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("yes", True),
        ("off", False),
        ("~", None),
        ("", None),
        ("'1'", "1"),
        ("0x1", "0x1"),
        ("!!str 1", "1"),
        ("&a 1", 1),
        ("1_000", 1000),
    ],
)
def test_scalar_types(text: str, value: object) -> None:
    """Unquoted scalars have YAML's types, quoted and tagged ones are text."""
    assert values(read("yaml", f"k: {text}\n")) == {"k": value}


def test_streams_aliases_and_merges() -> None:
    """Documents are numbered; an alias is a container without entries of its own."""
    document = read("yaml", "a: &x {b: 1}\nc: *x\n<<: *x\n---\na: 2\n")

    assert [entry.stream for entry in document.entries if entry.keys == ("a",)] == [0, 1]
    assert [e.container for e in document.entries if e.keys in {("c",), ("<<",)}] == [True, True]


def test_templates_are_tolerated() -> None:
    """Helm's lone tags vanish, tags in values stay readable as they were written."""
    text = (
        "{{- if .Values.gpu }}\nspec:\n  {{- with .x }}\n  nvidia.com/gpu: {{ .n | quote }}\n"
        '  image: "{{ .repo }}:cuda"\n  {{ include "y" . | nindent 2 }}\n  {{- end }}\n{{ end }}\n'
    )
    document = read("yaml", text, "chart/templates/pod.yaml")

    assert at(document, "spec.nvidia.com/gpu") == ("{{ .n | quote }}", (4, 19))
    assert values(document)["spec.image"] == "{{ .repo }}:cuda"
    assert "helm" in document.flavours


def test_steps_are_commands() -> None:
    """A CI step's script is read as shell, at its own lines and columns."""
    text = "on: push\njobs:\n  t:\n    steps:\n      - run: |\n          pip install torch==2.1\n"
    document = read("yaml", text, ".github/workflows/ci.yml")

    assert words(document) == [["pip", "install", "torch==2.1"]]
    assert start(document.commands[0].words[2].span) == (6, 23)
    assert "ci" in document.flavours


def test_command_lists() -> None:
    """A list of words is a command, and the script behind ``-c`` is read."""
    assert words(read("yaml", POD)) == [
        ["sh", "-c", "nvidia-smi && python x.py"],
        ["nvidia-smi"],
        ["python", "x.py"],
    ]


def test_conda_environment() -> None:
    """Conda's list and the pip list inside it are requirements with their managers."""
    text = "channels: [nvidia]\ndependencies:\n  - pytorch-cuda=11.8\n  - pip:\n    - 'cupy>=1'\n"
    document = read("yaml", text, "environment.yml")

    assert pins(document) == [("pytorch-cuda", "=11.8"), ("cupy", ">=1")]
    assert [found.manager for found in document.requirements] == ["conda", "pip"]
    assert document.source.slice(document.requirements[1].span) == "cupy>=1"


@pytest.mark.parametrize("text", ["a: [1", "a: b: c\n", "\t- x: 1\n", "a: *missing\n  b: 1\n"])
def test_broken(text: str) -> None:
    """What no YAML parser takes is refused with a line."""
    with pytest.raises(NotReadableError) as caught:
        read("yaml", text)
    assert caught.value.message.startswith("not valid YAML: ")
    assert caught.value.line is not None


def test_depth() -> None:
    """What configs never reach is refused at once, not followed until the stack ends."""
    assert len(read("yaml", "[" * 150 + "]" * 150).entries) == 150
    with pytest.raises(NotReadableError, match="nest"):
        read("yaml", "[" * 20_000 + "]" * 20_000)
