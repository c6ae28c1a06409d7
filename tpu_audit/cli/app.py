"""What every command shares: the sink, the settings, the cache folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import click

from tpu_audit.cli.out import Out
from tpu_audit.cli.settings_file import NO_SETTINGS, SettingsFile


@dataclass(slots=True)
class App:
    """State of one run of the command line."""

    out: Out = field(default_factory=Out)
    settings: SettingsFile = NO_SETTINGS
    cache_dir: Path = Path()
    debug: bool = False
    typed: set[str] = field(default_factory=set)
    """Names of the global options that stand on the command line, before or after the command."""


def current_app() -> App:
    """Return the state of the running command."""
    return click.get_current_context().ensure_object(App)
