"""The table of readers; a reader's module is imported when a file of its kind is met."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.text import SourceText

_HERE = "tpu_audit.rules.files"
READERS: Mapping[str, str] = MappingProxyType(
    {
        "yaml": f"{_HERE}.yaml_reader",
        "json": f"{_HERE}.json_reader",
        "toml": f"{_HERE}.toml_reader",
        "ini": f"{_HERE}.ini_reader",
        "env": f"{_HERE}.env_reader",
        "requirements": f"{_HERE}.requirements_reader",
        "dockerfile": f"{_HERE}.dockerfile_reader",
        "shell": f"{_HERE}.shell_reader",
        "makefile": f"{_HERE}.makefile_reader",
        "cmake": f"{_HERE}.cmake_reader",
        "cpp": f"{_HERE}.cpp_reader",
    }
)
"""Kind -> module with ``read(path, source) -> Document``."""


def read_document(kind: str, path: str, source: SourceText) -> Document:
    """Read ``source`` as ``kind``. Raises ``NotReadableError`` when it is not that."""
    document: Document = import_module(READERS[kind]).read(path, source)
    return document
