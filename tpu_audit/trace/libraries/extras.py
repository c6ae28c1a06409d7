"""Libraries that are optional parts of this tool."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tpu_audit.types.errors import NotAuditedError, Stage, shorten


def need(package: str) -> Any:
    """Import ``package``, which the extra of the same name installs.

    Raises NotAuditedError: a skip with code ``missing_extra`` where it is not installed, a
    failure with code ``missing_dependency`` where it is and cannot be imported.
    """
    if find_spec(package) is None:
        raise NotAuditedError(
            f"needs the extra {package}",
            stage=Stage.BUILD,
            code="missing_extra",
            skipped=True,
            hint=f'pip install "tpu-audit[{package}]"',
        )
    try:
        return import_module(package)
    except Exception as error:
        raise NotAuditedError(
            f"{package} is installed and cannot be imported: {shorten(error)}",
            stage=Stage.BUILD,
            code="missing_dependency",
            hint=f'pip install --upgrade "tpu-audit[{package}]"',
        ) from error
