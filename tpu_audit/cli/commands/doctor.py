"""``tpu-audit doctor``: whether everything is here that the tool needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tpu_audit.cli.app import App, current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.options import format_option, registry_option
from tpu_audit.cli.probes.check import Check, Health
from tpu_audit.types.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(cls=Command)
@registry_option()
@format_option("console", "json")
def command(registry: str | None, fmt: str) -> ExitCode:
    """Check the installation, the device behind the tracer, the toolchain, hub, cache, registry.

    Exit code 2 when something is broken that scan cannot work without, else 0.
    """
    from tpu_audit.cli.probes.install import versions  # not for --help

    app = current_app()
    found, checks = versions(), list(_checks(app, registry))
    healthy = all(check.health is not Health.BROKEN for check in checks)
    if fmt == "json":
        app.out.json({"healthy": healthy, "versions": found, "checks": checks})
    else:
        app.out.table(("package", "version"), [(k, v or "not installed") for k, v in found.items()])
        app.out.data("\n")
        rows = [(check.health.value, check.name, check.detail) for check in checks]
        app.out.table(("health", "check", "detail"), rows)
        for check in checks:
            if check.hint and check.health is not Health.OK:
                app.out.hint(f"{check.name}: {check.hint}")
    return ExitCode.CLEAN if healthy else ExitCode.USAGE


def _checks(app: App, registry: str | None) -> Iterator[Check]:
    from tpu_audit.cli.probes.device import check_device  # not for --help
    from tpu_audit.cli.probes.hub import check_hub  # not for --help
    from tpu_audit.cli.probes.install import check_extras  # not for --help
    from tpu_audit.cli.probes.registry import check_registry  # not for --help
    from tpu_audit.cli.probes.storage import check_cache  # not for --help
    from tpu_audit.cli.probes.toolchain import check_toolchain  # not for --help

    yield from check_extras()
    yield from check_device()
    yield from check_toolchain()
    yield check_hub()
    yield check_cache(app.cache_dir)
    yield check_registry(registry)
