"""Settings of Lightning's Trainer and Fabric in config files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document, Entry


def trainer_entries(document: Document) -> Iterator[Entry]:
    """Iterate over the settings under ``trainer:``, and beside ``_target_`` of a Trainer."""
    holders = {entry.keys[:-1] for entry in document.entries if _is_trainer(entry)}
    return (entry for entry in document.entries if entry.keys[:-1] in holders)


def _is_trainer(entry: Entry) -> bool:
    """Tell an entry that shows its neighbours to be Lightning's."""
    if entry.key == "_target_":
        return "lightning" in entry.text() and entry.text().endswith(("trainer", "fabric"))
    return entry.keys[-2:-1] == ("trainer",) and entry.key in {"accelerator", "gpus", "devices"}
