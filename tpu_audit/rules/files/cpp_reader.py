"""C++ and CUDA sources: what they include. Their code is beyond this tool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files import flavours
from tpu_audit.rules.files.document import Document, Entry

if TYPE_CHECKING:
    from tpu_audit.rules.text import SourceText

_COMMENT = re.compile(r"/\*.*?\*/|//[^\r\n]*", re.DOTALL)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\r\n]+)[>\"]", re.MULTILINE)


def read(path: str, source: SourceText) -> Document:
    """Read a C++ or CUDA source: one entry an include."""
    text = _COMMENT.sub(lambda match: re.sub(r"[^\r\n]", " ", match.group()), source.text)
    entries = [
        Entry(
            keys=("include",),
            value=match.group(2),
            span=source.span(match.start(1), match.end()),
        )
        for match in _INCLUDE.finditer(text)
    ]
    return Document(
        kind="cpp",
        path=path,
        source=source,
        flavours=frozenset(flavours.named(path)),
        entries=tuple(entries),
    )
