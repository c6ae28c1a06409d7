"""Whether the versions in an interpreter are known to work together; nothing is imported."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from op_registry.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Mapping

TESTED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "torch": ("2.13", "2.14"),
        "torch-tpu": ("0.2.0",),
        "libtpu": ("0.0.52",),
        "jax": ("0.10.2",),
        "jaxlib": ("0.10.2",),
    }
)
"""Distribution -> the versions, or beginnings of them, that the toolchain was tried with."""
LIBTPU_FLOOR = "0.0.50"
"""What torch-tpu 0.2.0 asks for, and what compiles for v6e and tpu7x."""
_INSTALL = (
    'install the versions that were tested together: {python} -m pip install "tpu-audit[tpu]"'
)
_READ = """
import json, sys
from importlib import metadata
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        found[name] = None
print(json.dumps(found))
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Why a set of versions may not do."""

    text: str
    hint: str
    fatal: bool
    """Whether it is known not to work, rather than not known to work."""


def read(python: str) -> dict[str, str | None]:
    """Return the version of each distribution that matters in ``python``; None: not installed.

    Raises RegistryError when ``python`` is no interpreter.
    """
    call = [python, "-P", "-W", "ignore", "-c", _READ, *TESTED]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=True)
        found: dict[str, str | None] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        message = f"{python!r} does not run as a Python interpreter: {error}"
        raise RegistryError(message, hint="give the path of one with --python") from error
    return found


def problems(found: Mapping[str, str | None], python: str) -> tuple[Problem, ...]:
    """Return what speaks against the versions that ``read`` found in ``python``, worst first."""
    hint = _INSTALL.format(python=python)
    fatal = [Problem(text=text, hint=hint, fatal=True) for text in _conflicts(found)]
    doubts = [Problem(text=text, hint=hint, fatal=False) for text in _untested(found)]
    return (*fatal, *doubts)


def _conflicts(found: Mapping[str, str | None]) -> list[str]:
    missing = [name for name in ("jax", "jaxlib", "libtpu") if found[name] is None]
    conflicts = [f"{name} is not installed" for name in missing]
    jax, jaxlib, libtpu = found["jax"], found["jaxlib"], found["libtpu"]
    if jax and jaxlib and _numbers(jax) != _numbers(jaxlib):
        conflicts.append(f"jax {jax} and jaxlib {jaxlib} are of different releases")
    if libtpu and _numbers(libtpu) < _numbers(LIBTPU_FLOOR):
        conflicts.append(f"libtpu {libtpu} is older than {LIBTPU_FLOOR}, which torch-tpu asks for")
    return conflicts


def _untested(found: Mapping[str, str | None]) -> list[str]:
    return [
        f"{name} {version} was not tested; {' and '.join(TESTED[name])} were"
        for name, version in found.items()
        if version is not None and not _is_tested(name, version)
    ]


def _is_tested(name: str, version: str) -> bool:
    numbers = _numbers(version)
    known = [_numbers(text) for text in TESTED[name]]
    return any(numbers[: len(one)] == one for one in known)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the release of a version as numbers; what follows them is left out."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in release[0].split(".")) if release else ()
