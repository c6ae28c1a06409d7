"""What classes of a repository's code derive from, read from the source: nothing is imported."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LIBRARY = "transformers"
_DEEPEST = 8
"""Classes that a chain of bases may pass through."""


def native_bases(code_files: Mapping[str, str], name: str) -> list[str]:
    """Return the classes of transformers that class ``name`` derives from, the nearest first.

    ``code_files`` is file name -> path. Bases are followed through the repository's own classes,
    and counted as transformers' where the file imports them from there. Files that do not parse
    say nothing.
    """
    classes: dict[str, tuple[list[str], dict[str, str]]] = {}
    for path in code_files.values():
        classes |= _classes(Path(path))
    found: list[str] = []
    level = [name]
    for _ in range(_DEEPEST):
        above = [pair for own in level if own in classes for pair in _bases(*classes.pop(own))]
        found += [origin for origin, native in above if native]
        level = [base for base, native in above if not native]
    return list(dict.fromkeys(found))


def _bases(bases: list[str], imported: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield the name of each base and whether it is transformers' own."""
    for base in bases:
        first, _, rest = base.partition(".")
        native = first in imported
        last = rest.rpartition(".")[2] if rest else imported.get(first, base)
        yield last, native


def _classes(path: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Return class -> its bases as written, with what its file imports from transformers."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    imported = dict(pair for node in ast.walk(tree) for pair in _imports(node))
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {node.name: ([ast.unparse(b) for b in node.bases], imported) for node in classes}


def _imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield local name -> original name of what is imported from transformers."""
    if isinstance(node, ast.ImportFrom) and not node.level and _is_library(node.module or ""):
        yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if _is_library(alias.name):
                yield alias.asname or _LIBRARY, alias.name


def _is_library(module: str) -> bool:
    return module.partition(".")[0] == _LIBRARY
