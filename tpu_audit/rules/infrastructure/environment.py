"""Environment variables, wherever a file sets them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.rules.hit import Span
from tpu_audit.rules.infrastructure.places import part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document, Entry

_HOLDERS = frozenset(
    {
        *("env", "envs", "environment", "env_vars", "envVars", "env_set", "variables", "setenv"),
        *("containerEnv", "remoteEnv", "environment_variables", "environmentVariables", "extraEnv"),
        *("set_env", "build_args", "extra_env", "envFrom"),
    }
)
_PAIR = re.compile(r"[\"']?([A-Za-z_]\w*)\s*=([^\r\n]*?)[\"']?\s*$", re.MULTILINE)
_EXPORTED = re.compile(r"(?:^|[,=\s])([A-Z_][A-Z0-9_]*)=([^,\s]*)")
_RUNNERS = {
    "docker": ("-e", "--env"),
    "podman": ("-e", "--env"),
    "nvidia-docker": ("-e", "--env"),
    "mpirun": ("-x", "-genv"),
    "mpiexec": ("-x", "-genv"),
    "srun": ("--export",),
    "sbatch": ("--export",),
    "#SBATCH": ("--export",),
    "singularity": ("--env",),
    "apptainer": ("--env",),
}
"""Commands that hand variables on -> the options they take them by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """One variable as it is set."""

    name: str
    value: str
    key_span: Span
    """The name's place."""


def variables(document: Document) -> Iterator[Variable]:
    """Yield every variable that the file sets."""
    if document.kind in {"env", "shell", "makefile"}:
        yield from (_of_entry(entry) for entry in document.entries if entry.key_span)
    elif document.kind == "dockerfile":
        named = (e for e in document.entries if e.keys[0] in {"ENV", "ARG"} and e.key_span)
        yield from (_of_entry(entry) for entry in named)
    elif document.kind in {"yaml", "json", "toml", "ini"}:
        yield from _of_config(document)
    for command in document.commands:
        if document.kind != "shell":  # a script's are among its entries
            yield from (_of_entry(entry) for entry in command.assignments if entry.key_span)
        yield from _handed_on(document, command)


def _of_entry(entry: Entry) -> Variable:
    assert entry.key_span is not None  # noqa: S101 - callers asked
    value = "" if entry.value is None else str(entry.value)
    value = value[1:-1] if value[:1] in {"'", '"'} and value[-1:] == value[:1] else value
    return Variable(name=str(entry.key), value=value, key_span=entry.key_span)


def _of_config(document: Document) -> Iterator[Variable]:
    values = {(e.stream, e.keys): e for e in document.entries}
    for entry in document.entries:
        keys = entry.keys
        if entry.container or not set(keys[-3:]) & _HOLDERS:
            continue
        if document.kind == "ini" or (keys[-2:-1] and keys[-2] in _HOLDERS and _is_item(entry)):
            yield from _pairs(document, entry)
        elif keys[-2:-1] and keys[-2] in _HOLDERS and entry.key_span:
            yield _of_entry(entry)
        elif entry.key == "name" and set(keys[-3:-2]) & _HOLDERS:
            value = values.get((entry.stream, (*keys[:-1], "value")))
            text = "" if value is None or value.value is None else str(value.value)
            yield Variable(name=str(entry.value), value=text, key_span=entry.span)


def _is_item(entry: Entry) -> bool:
    return isinstance(entry.key, int)


def _pairs(document: Document, entry: Entry) -> Iterator[Variable]:
    """Read ``NAME=value``, one or several lines of it."""
    for match in _PAIR.finditer(document.source.slice(entry.span)):
        span = part(document, entry.span, match, 1)
        yield Variable(name=match.group(1), value=match.group(2).strip(), key_span=span)


def _handed_on(document: Document, command: Command) -> Iterator[Variable]:
    names = _RUNNERS.get(command.name)
    if names is None:
        return
    for place, word in enumerate(command.words):
        head, equals, _ = word.text.partition("=")
        before = command.words[place - 1].text if place else ""
        if before in names or (equals and head in names):
            for match in _EXPORTED.finditer(document.source.slice(word.span)):
                span = part(document, word.span, match, 1)
                yield Variable(name=match.group(1), value=match.group(2), key_span=span)
