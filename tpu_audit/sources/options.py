"""How a target may be resolved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_DEFAULT_ENDPOINT = "https://huggingface.co"
_TRUE = frozenset({"1", "ON", "YES", "TRUE"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolveOptions:
    """What the user allows, and where answers are kept."""

    revision: str | None = None
    """Branch, tag or commit of a hub repository; None is its default branch."""
    offline: bool = False
    """Never touch the network. ``HF_HUB_OFFLINE=1`` says the same."""
    cache_dir: Path
    """tpu-audit's own cache; ``resolutions/`` in it holds what ids resolved to."""
    fresh_for_s: float = 3600.0
    """Seconds for which an id is not asked for again. A full commit never goes stale."""
    refresh: bool = False
    """Ask the hub even when a fresh answer is kept."""

    @property
    def network_allowed(self) -> bool:
        """Neither this option nor the Hugging Face environment forbids the network."""
        asked = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
        return not self.offline and asked.upper() not in _TRUE


def hub_endpoint() -> str:
    """URL of the hub, as huggingface_hub reads it from ``HF_ENDPOINT``, without its import."""
    return (os.environ.get("HF_ENDPOINT") or _DEFAULT_ENDPOINT).rstrip("/")
