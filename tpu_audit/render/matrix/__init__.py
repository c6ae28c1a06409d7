"""The op by dtype evidence matrix of a registry: one HTML page, or a summary in Markdown."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tpu_audit.render.matrix import markdown, page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from op_registry.schema import Snapshot

FORMATS: Mapping[str, Callable[[Snapshot], str]] = MappingProxyType(
    {".html": page.render, ".md": markdown.render}
)
"""Suffix of the file -> what makes its text."""
