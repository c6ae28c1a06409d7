"""Real configs for tests, and the types of the fixtures that resolve them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tpu_audit.sources.resolve import ResolveOptions
from tpu_audit.types.errors import TpuAuditError

CONFIGS = Path(__file__).parents[1] / "data" / "configs"
"""Real configs in hub layout; SOURCES.tsv there says where each came from."""

LIBRARIES = CONFIGS.parent / "libraries"
"""Small repositories of other libraries than transformers, written in their real layouts."""

BERT = (CONFIGS / "google-bert/bert-base-uncased/config.json").read_text("utf-8")
"""The config of BertForMaskedLM."""

Options = Callable[..., ResolveOptions]
"""Fixture ``options``: keyword changes -> options over one cache folder."""

Refused = Callable[..., TpuAuditError]
"""Fixture ``refused``: target and keyword changes -> the error it must give."""
