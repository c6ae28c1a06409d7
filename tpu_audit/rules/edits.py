"""Repairs: byte-range edits of one file, and how far they may be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Applicability(StrEnum):
    """How far a repair may be trusted."""

    SAFE = "safe"
    """Keeps the behaviour on CUDA and CPU, and works on a TPU."""
    UNSAFE = "unsafe"
    """May change behaviour somewhere; applied only on request."""
    DISPLAY = "display"
    """Shown, never applied."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """Replacement of the bytes from ``start`` up to ``end`` of the UTF-8 text by ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Fix:
    """Edits that belong together, all or none."""

    edits: tuple[Edit, ...]
    applicability: Applicability
    adds_imports: tuple[str, ...] = ()
    """Statements such as ``import torch`` that the new text needs; added where missing."""
    removes_imports: tuple[str, ...] = ()
    """Statements that the old text alone needed; removed where nothing else uses them."""


def apply_edits(data: bytes, edits: tuple[Edit, ...]) -> bytes:
    """Return ``data`` with ``edits`` applied.

    Raises ``ValueError`` where two edits overlap or one lies outside ``data``.
    """
    parts: list[bytes] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < done or edit.end < edit.start or edit.end > len(data):
            raise ValueError(f"edit of bytes {edit.start} to {edit.end} does not fit after {done}")
        parts += (data[done : edit.start], edit.text.encode("utf-8", "surrogatepass"))
        done = edit.end
    return b"".join((*parts, data[done:]))
