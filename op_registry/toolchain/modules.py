"""Reads StableHLO text with jaxlib's MLIR, and rewrites what only a newer jaxlib understands.

Runs in the child.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from op_registry.toolchain.scans import rewrite_scans

if TYPE_CHECKING:
    from collections.abc import Iterator

_STABLE = re.compile(r"(chlo\.top_k\([^)]*), is_stable = (?:true|false)\)")
WITHOUT_STABLE = "chlo.top_k without is_stable"
_SKEW = (
    "Failed to serialize StableHLO to plugin version",
    "failed to legalize operation 'vhlo.",
    "failed to legalize operation 'chlo.scan'",
)
"""What the hand-over to a compiler of another version says."""
_UNSTABLE = re.compile(r"0x[0-9a-fA-F]+|(?:/[\w.+-]+){2,}")
"""Addresses and paths."""
_MOST_LINES, _MOST_CHARACTERS = 4, 600


class SkewError(Exception):
    """The versions at hand do not understand the program; the text says at what."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """A program in memory. Of use while ``parsed`` is open."""

    module: Any
    """A jaxlib MLIR module."""
    rewritten: tuple[str, ...]


@contextmanager
def parsed(text: str) -> Iterator[Parsed]:
    """Parse ``text`` and rewrite it where needed, with its MLIR context entered.

    A top_k without ``is_stable`` is stable, which is one of the results that an unstable one may
    have. Raises SkewError for a text that this jaxlib does not parse.
    """
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    text, dropped = _STABLE.subn(r"\1)", text)
    with mlir.make_ir_context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError as error:
            raise SkewError(short(str(error))) from error
        notes = rewrite_scans(module) | ({WITHOUT_STABLE} if dropped else set())
        yield Parsed(module=module, rewritten=tuple(sorted(notes)))


def is_skew(error: Exception) -> bool:
    """Say whether a compiler's error is about versions."""
    return any(text in str(error) for text in _SKEW)


def short(message: str) -> str:
    """Return the first lines of an error's text, without what differs from run to run."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return _UNSTABLE.sub("...", "\n".join(lines[:_MOST_LINES]))[:_MOST_CHARACTERS].strip()
