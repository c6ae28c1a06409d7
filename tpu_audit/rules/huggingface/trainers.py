"""What the rules on training share: names of trainers' arguments, and their documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document, Entry, Word

TRAINER = "https://huggingface.co/docs/transformers/main_classes/trainer"
ACCELERATE = "https://huggingface.co/docs/accelerate/package_reference/accelerator"


def settings(document: Document, *names: str) -> Iterator[Entry]:
    """Iterate over entries of a training config named one of ``names``, at the top or one below."""
    for entry in document.entries:
        if entry.key in names and len(entry.keys) <= 3 and not entry.container:  # noqa: PLR2004 - deeper is another tool's
            yield entry


def flag(command: Command, *names: str) -> Word | None:
    """Return the option of a command that switches one of ``names`` on: ``--fp16 [True]``."""
    for place, word in enumerate(command.words):
        head, equals, tail = word.text.lstrip("-").partition("=")
        if not word.text.startswith("--") or head.replace("-", "_") not in names:
            continue
        after = command.words[place + 1].text if place + 1 < len(command.words) else ""
        value = tail if equals else ("true" if after.startswith("-") or not after else after)
        if value.lower() not in {"false", "0", "no", "none"}:
            return word
    return None
