"""Versions of what traces, read without importing any of it."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from importlib import metadata
from typing import TYPE_CHECKING

from tpu_audit.types.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_TRACING = ("torch", "transformers")
_TPU = (*_TRACING, "torch-tpu")
LIBRARIES = ("diffusers", "peft", "timm")
"""Packages that models may need besides; each is an extra of its own name."""
_ASK = """
import json, sys
from importlib import metadata
found = {"python": "%d.%d" % sys.version_info[:2]}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def tracing_versions(
    tracer: str, tpu_python: str | None, python: str | None = None
) -> dict[str, str]:
    """Return the versions of the packages that ``tracer`` runs on, and of LIBRARIES if there.

    ``tpu_python`` is the interpreter of the ``torch_tpu`` tracer, ``python`` that of the pretended
    one; None is this one. Of another interpreter its own version is told as well.
    Raises MissingExtraError when packages are missing here, UsageError when another interpreter
    cannot be asked or lacks them. A program of the user's own does without transformers there.
    """
    if tracer == "torch_tpu":
        if is_other(tpu_python):
            return _elsewhere(tpu_python or "", _TPU, "--tpu-python")
        return _here(_TPU, "scan,tpu")
    if is_other(python):
        return _elsewhere(python or "", _TRACING[:1], "--python")
    return _here(_TRACING, "scan")


def is_other(python: str | None) -> bool:
    """Whether ``python`` names an interpreter that is not this one."""
    return python not in {None, sys.executable}


def _here(wanted: tuple[str, ...], extra: str) -> dict[str, str]:
    found = {name: version for name in wanted if (version := _version(name))}
    missing = [name for name in wanted if name not in found]
    if missing:
        raise MissingExtraError(
            f"scanning needs {' and '.join(missing)}, which this environment does not have",
            hint=f'pip install "tpu-audit[{extra}]"',
        )
    return found | {name: version for name in LIBRARIES if (version := _version(name))}


def versions_for(library: str, versions: Mapping[str, str]) -> dict[str, str]:
    """Return those of ``versions`` that a model of ``library`` depends on."""
    return {name: v for name, v in versions.items() if name not in LIBRARIES or name == library}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@functools.cache
def _elsewhere(python: str, wanted: tuple[str, ...], option: str) -> dict[str, str]:
    command = [python, "-I", "-c", _ASK, *_TPU, *LIBRARIES]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        found: dict[str, str] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        hint = f"{option} takes the path of a Python interpreter"
        raise UsageError(f"cannot ask {python!r} for its packages: {error}", hint=hint) from error
    missing = [name for name in wanted if name not in found]
    if missing:
        hint = f"{python} -m pip install {' '.join(missing)}"
        raise UsageError(f"the interpreter {python!r} has no {' and no '.join(missing)}", hint=hint)
    return found
