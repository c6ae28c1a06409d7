"""Whether StableHLO compiles for a TPU here, and runs on the CPU: tried in child processes."""

from __future__ import annotations

import sys

from op_registry.errors import RegistryError
from op_registry.toolchain import selftest
from op_registry.toolchain.chips import DEFAULT_CHIP
from op_registry.toolchain.versions import problems, read
from tpu_audit.cli.probes.check import Check, Health

_NAME = "toolchain"
_INSTALL = 'pip install "tpu-audit[tpu]"'


def check_toolchain() -> list[Check]:
    """Hold the installed versions against the tested ones, then compile and run an addition.

    ``scan`` needs none of it: what is wrong here is a warning, and its absence no more than that.
    """
    try:
        found = read(sys.executable)
    except RegistryError as error:
        return [_warning(error.message, error.hint)]
    if not any(found[name] for name in ("jax", "jaxlib", "libtpu")):
        detail = "not installed: only `registry verify` needs it"
        return [Check(name=_NAME, health=Health.INFO, detail=detail, hint=_INSTALL)]
    speaking = problems(found, sys.executable)
    checks = [_warning(problem.text, problem.hint) for problem in speaking]
    if any(problem.fatal for problem in speaking):
        return checks
    return [
        *checks,
        _tried(f"compiles for {DEFAULT_CHIP}", selftest.compile_problem(sys.executable)),
        _tried("runs on XLA:CPU", selftest.run_problem(sys.executable)),
    ]


def _tried(what: str, problem: str | None) -> Check:
    if problem is None:
        return Check(name=_NAME, health=Health.OK, detail=f"a program {what}")
    return _warning(f"no program {what}: {problem}", _INSTALL)


def _warning(detail: str, hint: str | None) -> Check:
    return Check(name=_NAME, health=Health.WARNING, detail=detail, hint=hint)
