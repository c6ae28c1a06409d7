"""Resolves a hub id: a fresh record, the hub, what is cached, the catalogue; in that order."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from tpu_audit.sources import catalogue
from tpu_audit.sources.assemble import Found, assemble
from tpu_audit.sources.hub import fetch
from tpu_audit.sources.hub_cache import CachedSnapshot, find_cached, require_client
from tpu_audit.sources.hub_errors import HubUnavailableError
from tpu_audit.sources.local import find_in_folder
from tpu_audit.sources.options import hub_endpoint
from tpu_audit.sources.reachable import why_unreachable
from tpu_audit.sources.records import OUTAGE_WORTH_S, Record, RecordStore
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from tpu_audit.sources.options import ResolveOptions
    from tpu_audit.sources.target import HubTarget
    from tpu_audit.types.model import ModelSpec


def resolve_remote(target: HubTarget, options: ResolveOptions) -> ModelSpec:
    """Resolve one hub id.

    Raises NotAuditedError: a definite refusal by the hub is never papered over.
    """
    store = RecordStore(options.cache_dir)
    known = store.load(target)
    if not options.network_allowed:
        return _without_hub(target, known, None)
    if known and not options.refresh and known.is_fresh(options.fresh_for_s):
        return known.spec
    try:
        spec = _ask_hub(target, store, trust_outage=not options.refresh)
    except HubUnavailableError as unavailable:
        return _without_hub(target, known, unavailable)
    if not spec.unfetched:  # else the hub is asked again: it may give them then
        store.save(target, spec)
    return spec


def _ask_hub(target: HubTarget, store: RecordStore, *, trust_outage: bool) -> ModelSpec:
    outage = store.recent_outage() if trust_outage else None
    if outage is not None:
        raise HubUnavailableError(outage)
    require_client()
    begun = time.monotonic()
    try:
        return assemble(_fetch_if_reachable(target))
    except HubUnavailableError as unavailable:
        if unavailable.code == "network" and time.monotonic() - begun > OUTAGE_WORTH_S:
            store.save_outage(unavailable.reason)
        raise


def _fetch_if_reachable(target: HubTarget) -> Found:
    reason = why_unreachable(hub_endpoint())
    if reason is not None:
        raise HubUnavailableError(reason)
    return fetch(target)


def _without_hub(
    target: HubTarget, known: Record | None, unavailable: HubUnavailableError | None
) -> ModelSpec:
    """Give the best answer without the hub; ``unavailable`` is None when told not to ask."""
    why = f"the hub did not answer ({unavailable.reason})" if unavailable else "offline"
    cached = _find_cached(target, known)
    if known and (cached is None or known.time >= cached.time):
        note = f"{why}: answered from what the hub said earlier"
        return _as_cached(known.spec, note)
    if cached:
        return _from_cache(target, cached, f"{why}: answered from the Hugging Face cache")
    found = catalogue.find(target)
    if found is not None:
        return assemble(replace(found, notes=(f"{why}: {catalogue.NOTE}", *found.notes)))
    raise _nothing_known(target, unavailable)


def _find_cached(target: HubTarget, known: Record | None) -> CachedSnapshot | None:
    """Other tools may have cached a renamed model under either of its names."""
    names = [target.id, *([known.spec.id] if known else []), *catalogue.names_of(target.id)]
    found = [snapshot for name in names if (snapshot := find_cached(name, target.revision))]
    return max(found, key=lambda snapshot: snapshot.time, default=None)


def _from_cache(target: HubTarget, cached: CachedSnapshot, note: str) -> ModelSpec:
    found = find_in_folder(cached.folder, target=target.text)
    return assemble(
        replace(
            found,
            id=cached.id,
            revision=cached.commit,
            config_source=f"cache@{cached.commit}",
            redirected_from=target.id if cached.id != target.id else None,
            notes=(note, *found.notes),
        )
    )


def _as_cached(spec: ModelSpec, note: str) -> ModelSpec:
    return replace(spec, config_source=f"cache@{spec.revision}", notes=(note, *spec.notes))


def _nothing_known(target: HubTarget, unavailable: HubUnavailableError | None) -> NotAuditedError:
    missing = f"{target.id} is neither cached nor in the built-in catalogue"
    if unavailable is None:
        return NotAuditedError(
            f"{missing}, and the network is not allowed",
            stage=Stage.RESOLVE,
            code="offline_not_cached",
            hint="run once without --offline and HF_HUB_OFFLINE, or give a local config.json",
        )
    return NotAuditedError(
        f"{missing}, and {hub_endpoint()} did not answer ({unavailable.reason})",
        stage=Stage.RESOLVE,
        code=unavailable.code,
        hint="check the network and HF_ENDPOINT, or give a local folder or config.json",
    )
