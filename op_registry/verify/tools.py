"""Which tools a verification uses, and what of this package makes each stage's results."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from op_registry.errors import RegistryError
from op_registry.toolchain.versions import problems, read

NEEDED = ("torch", "torch-tpu", "libtpu", "jax", "jaxlib")
"""Distributions whose versions decide the results."""
HEADER = ("jax", "jaxlib")
"""Of these, the ones that the snapshot's header gets from verification."""
_PACKAGE = Path(__file__).parents[1]
_SOURCES = {
    "lower": (
        "build/**/*.py",
        "toolchain/arrays.py",
        "toolchain/programs.py",
        *(
            f"verify/{name}.py"
            for name in (
                *("cases", "describe", "examine", "examine_joint", "harvest", "joint"),
                *("lower_child", "lowering", "results", "stand_in", "stretches", "values"),
            )
        ),
    ),
    "compile": tuple(
        f"toolchain/{name}.py" for name in ("chips", "compiler", "emulation", "modules", "scans")
    ),
    "numerics": (
        *(f"toolchain/{name}.py" for name in ("arrays", "modules", "runner", "scans")),
        *(f"verify/{name}.py" for name in ("compare", "invariants", "numerics_child", "widened")),
    ),
    "edges": (
        *(f"toolchain/{name}.py" for name in ("arrays", "modules", "runner", "scans")),
        *(
            f"verify/{name}.py"
            for name in ("compare", "invariants", "numerics_child", "values", "widened")
        ),
        *(f"verify/{name}.py" for name in ("confirm_child", "edges", "inquest", "rebuild")),
    ),
}
"""Stage -> files of this package that its results come from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """An interpreter with all that is needed."""

    python: str
    versions: Mapping[str, str]
    """Distribution -> version, for ``NEEDED``."""
    doubts: tuple[str, ...] = ()
    """What a person should know of these versions: not tried together."""

    @property
    def registry(self) -> str:
        """Return the name of the registry of these versions: ``0.2.0+torch2.13``."""
        minor = ".".join(self.versions["torch"].partition("+")[0].split(".")[:2])
        return f"{self.versions['torch-tpu']}+torch{minor}"


def find_tools(python: str | None) -> Tools:
    """Look what the environment of ``python`` (default: this one) has.

    Raises RegistryError: no such interpreter, something of ``NEEDED`` is not installed there, or
    versions that are known not to work together.
    """
    interpreter = shutil.which(python or sys.executable)
    if interpreter is None:
        hint = "give the interpreter of an environment with tpu-audit[tpu]: --python PATH"
        raise RegistryError(f"no Python interpreter at {python!r}", hint=hint)
    found = read(interpreter)
    if absent := [name for name in NEEDED if not found[name]]:
        message = f"the environment of {interpreter!r} has no {', '.join(absent)}"
        hint = f'install them there: {interpreter} -m pip install "tpu-audit[tpu]"'
        raise RegistryError(message, hint=hint)
    doubts = problems(found, interpreter)
    if doubts and doubts[0].fatal:
        raise RegistryError(doubts[0].text, hint=doubts[0].hint)
    versions = {name: version for name in NEEDED if (version := found[name])}
    return Tools(
        python=interpreter, versions=versions, doubts=tuple(doubt.text for doubt in doubts)
    )


def signatures() -> dict[str, str]:
    """Return stage -> hash of the code that makes its results: changed code makes them again."""
    return {stage: _hash(patterns) for stage, patterns in _SOURCES.items()}


def _hash(patterns: tuple[str, ...]) -> str:
    files = sorted({path for pattern in patterns for path in _PACKAGE.glob(pattern)})
    content = hashlib.sha256()
    for path in files:
        content.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return content.hexdigest()[:16]
