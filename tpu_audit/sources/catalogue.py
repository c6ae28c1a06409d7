"""The built-in catalogue: configs of much used models, for when no hub and no cache can answer.

``catalogue/index.json`` lists the models with their former names, licence and the public
repository each file was copied from; the files stand beside it as ``org/name/config.json``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.sources.local import find_in_folder

if TYPE_CHECKING:
    from tpu_audit.sources.assemble import Found
    from tpu_audit.sources.target import HubTarget

FOLDER = Path(__file__).parent / "catalogue"
NOTE = "answered from the built-in catalogue, whose copy may be older than the hub's"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One model of the catalogue."""

    id: str
    former_ids: tuple[str, ...]
    """Names that the hub redirects to ``id``."""
    licence: str
    """Of the model, as the hub tags it; ``unknown`` where we are not sure."""
    sources: dict[str, str]
    """File name -> ``owner/repository@commit:path`` it was copied from."""
    edited: str | None
    """What differs from the source, if anything."""


@cache
def entries() -> tuple[Entry, ...]:
    """All models of the catalogue, by id."""
    rows = json.loads((FOLDER / "index.json").read_text("utf-8"))
    return tuple(
        Entry(
            id=row["id"],
            former_ids=tuple(row.get("former_ids", ())),
            licence=row["licence"],
            sources=row["sources"],
            edited=row.get("edited"),
        )
        for row in rows
    )


def names_of(repo_id: str) -> tuple[str, ...]:
    """All names of the model known under ``repo_id``; empty if it is not in the catalogue."""
    entry = _entry(repo_id)
    return (entry.id, *entry.former_ids) if entry else ()


def find(target: HubTarget) -> Found | None:
    """Give the catalogue's copy of a model; it knows default branches only."""
    entry = _entry(target.id)
    if entry is None or target.revision not in {None, "main"}:
        return None
    found = find_in_folder(FOLDER / entry.id, target=target.text)
    return replace(
        found,
        id=entry.id,
        config_source="catalogue",
        redirected_from=target.id if target.id != entry.id else None,
    )


def _entry(repo_id: str) -> Entry | None:
    matching = (e for e in entries() if repo_id in {e.id, *e.former_ids})
    return next(matching, None)
