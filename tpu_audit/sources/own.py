"""A user's own program: ``path/to/file.py:factory`` or ``package.module:factory``."""

from __future__ import annotations

import re
from pathlib import Path

from tpu_audit.types.errors import Stage, TargetNotFoundError, UsageError
from tpu_audit.types.model import ModelSpec

_FACTORY = re.compile(r"(?P<where>.+):(?P<name>[A-Za-z_]\w*)")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def parse_factory(text: str) -> tuple[str, str] | None:
    """Return (file or module, function), or None for a text that does not name a factory.

    Hub ids hold no colon. Raises TargetNotFoundError for a file that does not exist, UsageError
    for something that is neither a Python file nor a module.
    """
    match = _FACTORY.fullmatch(text)
    if match is None or "://" in text:
        return None
    where, name = match["where"], match["name"]
    if where.endswith(".py"):
        if not Path(where).expanduser().is_file():
            raise TargetNotFoundError(
                f"no such file: {where!r}",
                stage=Stage.RESOLVE,
                code="path_not_found",
                hint="a program of your own is named path/to/file.py:function",
            )
        return str(Path(where).expanduser().resolve()), name
    if not _MODULE.fullmatch(where):
        raise UsageError(
            f"not a program of your own: {text!r}",
            hint="name it path/to/file.py:function or package.module:function",
        )
    return where, name


def resolve_factory(text: str, where: str, name: str) -> ModelSpec:
    """Return the spec of a program: nothing is imported before the tracing process does it."""
    return ModelSpec(
        target=text,
        id=text,
        revision=None,
        config_source="local",
        library="python",
        config={},
        factory=(where, name),
        notes=(f"runs {text}, your own code, in the tracing process",),
    )
