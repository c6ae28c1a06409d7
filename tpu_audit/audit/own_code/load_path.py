"""Which of a repository's Python files run when its model is loaded with its own code.

transformers copies the files that ``auto_map`` names and what they import relatively; it finds
those imports by their text, and so does this: also in files that are no valid Python.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(\.+)[ \t]*([\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)", re.MULTILINE
)
_NAME = re.compile(r"[^\W\d]\w*")


def loaded_files(begin: Iterable[str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files of ``texts`` (name -> content) reached from ``begin``, sorted."""
    reached: set[str] = set()
    waiting = [name for name in begin if name in texts]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += (found for found in _imported(name, texts[name]) if found in texts)
    return tuple(sorted(reached))


def _imported(name: str, text: str) -> Iterator[str]:
    """Yield the files that the relative imports of a file may mean, packages' own among them."""
    folders = name.split("/")[:-1]
    for dots, module, names in _IMPORT.findall(text):
        base = folders[: len(folders) - len(dots) + 1]
        parts = module.split(".") if module else []
        for end in range(len(parts) + 1):
            yield from _module([*base, *parts[:end]])
        for member in _NAME.findall(names):
            yield from _module([*base, *parts, member])


def _module(parts: list[str]) -> tuple[str, ...]:
    path = "/".join(parts)
    return (f"{path}.py", f"{path}/__init__.py") if path else ("__init__.py",)
