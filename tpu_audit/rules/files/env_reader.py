"""Files of environment variables: ``.env``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files import flavours
from tpu_audit.rules.files.document import Document, Entry

if TYPE_CHECKING:
    from tpu_audit.rules.text import SourceText

_LINE = re.compile(
    r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.]*)[ \t]*=[ \t]*"
    r"(\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|[^\r\n#]*?(?:(?<=\S)#[^\r\n]*?)?)[ \t]*(?:#[^\r\n]*)?\r?$",
    re.MULTILINE,
)


def read(path: str, source: SourceText) -> Document:
    """Read a file of environment variables."""
    entries = []
    for match in _LINE.finditer(source.text):
        text = match.group(2)
        entries.append(
            Entry(
                keys=(match.group(1),),
                value=text[1:-1] if text[:1] in {'"', "'"} and len(text) > 1 else text,
                span=source.span(match.start(2), match.end(2)),
                key_span=source.span(match.start(1), match.end(1)),
            )
        )
    return Document(
        kind="env",
        path=path,
        source=source,
        flavours=frozenset(flavours.named(path)),
        entries=tuple(entries),
    )
