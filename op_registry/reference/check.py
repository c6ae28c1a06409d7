"""Checks reference kernels: ``python -m op_registry.reference.check [OP or pattern]...``."""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import sys
import tempfile
from typing import TYPE_CHECKING

from op_registry.errors import RegistryError
from op_registry.loader import load
from op_registry.reference.checks.derived import check_derived
from op_registry.reference.checks.errors import check_errors
from op_registry.reference.checks.gradient import check_gradient
from op_registry.reference.checks.lowering import CHIPS, Toolchain
from op_registry.reference.checks.native import check_native, is_used
from op_registry.reference.checks.static import check_static
from op_registry.reference.checks.values import check_nonfinite, check_values
from op_registry.reference.declare import declared
from op_registry.reference.samples import DTYPES, collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from op_registry.reference.checks.outcome import Outcome
    from op_registry.reference.declare import Declaration
    from op_registry.reference.samples import Samples
    from op_registry.schema import Snapshot

DIFFERENTIATED = ("float32", "bfloat16", "complex64")
COMPILED = ("float32", "bfloat16", "int64", "int8", "complex64")
"""Dtypes at which kernels are compiled; those with samples at none of these, at all they have."""
_TRACED = ("float32", "bfloat16", "int64", "bool", "complex64", "int8", "uint8")
"""Dtypes at which kernels are traced: others take the same path as one of these."""


def check(
    declaration: Declaration,
    samples: Samples,
    kernels: Mapping[str, Declaration],
    snapshot: Snapshot,
) -> Iterator[Outcome]:
    """Yield what every check that needs no TPU toolchain comes to, dtype by dtype.

    A kernel for an op that a TPU has is never installed: it only has to say what the op means.
    """
    used = is_used(declaration, snapshot)
    for dtype, calls in samples.calls.items():
        yield check_values(declaration, dtype, calls)
        yield check_nonfinite(declaration, dtype, calls)
        if dtype in _TRACED:
            yield check_native(declaration, dtype, calls, snapshot)
            if used:
                yield check_static(declaration, dtype, calls)
                yield check_derived(declaration, dtype, calls)
        if used and dtype in DIFFERENTIATED:
            yield check_gradient(declaration, dtype, calls, kernels, snapshot)
    if used:
        yield check_errors(declaration, samples.wrong)


def check_with(
    toolchain: Toolchain, declaration: Declaration, samples: Samples, *, compiles: bool
) -> Iterator[Outcome]:
    """Yield what lowering comes to, dtype by dtype, and with ``compiles`` compiling."""
    compiled = [dtype for dtype in COMPILED if dtype in samples.calls] or list(samples.calls)
    for dtype in samples.calls:
        lowered, programs = toolchain.lower(declaration, dtype)
        yield lowered
        if dtype in DIFFERENTIATED and not declaration.noise:
            backward, more = toolchain.lower(declaration, dtype, gradient=True)
            yield backward
            programs += more
        if compiles and dtype in compiled:
            yield from (toolchain.compile(dtype, programs, chip) for chip in CHIPS)


def reference_checks(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Return dtype -> samples on which values agreed with eager PyTorch (``12/12``)."""
    return {o.dtype: o.counts for o in outcomes if o.check == "values" and o.tried}


def choose(patterns: Sequence[str], kernels: Mapping[str, Declaration]) -> list[Declaration]:
    """Return the kernels that ``patterns`` name: an op, a file, or a pattern of either.

    ``aten.mish.default``, ``mish``, ``linalg*``; no pattern: all. Raises RegistryError for one
    that names nothing.
    """
    if not patterns:
        return list(kernels.values())
    chosen: dict[str, Declaration] = {}
    for pattern in patterns:
        found = {op: d for op, d in kernels.items() if _named(d, pattern)}
        if not found:
            hint = f"{len(kernels)} kernels are declared; name one as in `aten.mish.default`"
            raise RegistryError(f"no reference kernel is called {pattern!r}", hint=hint)
        chosen |= found
    return list(chosen.values())


def _named(declaration: Declaration, pattern: str) -> bool:
    name = declaration.op.split(".")[1]
    names = (declaration.op, name, declaration.function.__module__.rpartition(".")[2])
    return any(fnmatch.fnmatchcase(one, pattern) for one in names)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check kernels, print a line for each; return 1 when one failed, 2 for a wrong call."""
    options = _parser().parse_args(arguments)
    kernels = declared()
    try:
        chosen = choose(options.op, kernels)
        snapshot = load(options.registry)
    except ValueError as error:
        hint = getattr(error, "hint", None)
        _say(f"error: {error}", *([f"hint: {hint}"] if hint else []))
        return 2
    failed = 0
    with contextlib.ExitStack() as stack:
        toolchain = _toolchain(options, stack)
        for declaration in chosen:
            samples = collect([declaration], options.dtype or DTYPES)[declaration.op]
            outcomes = list(check(declaration, samples, kernels, snapshot))
            skipped = why_not_lowered(declaration, snapshot) if toolchain else ""
            if toolchain and not skipped:
                compiles = options.compile
                outcomes += check_with(toolchain, declaration, samples, compiles=compiles)
            failed += not report(
                declaration, outcomes, most=options.most, may_be_empty=bool(options.dtype)
            )
            if skipped:
                _say(f"     not lowered: {skipped}")
    _say(f"{len(chosen) - failed} of {len(chosen)} kernels pass")
    return 1 if failed else 0


def lowers(declaration: Declaration, snapshot: Snapshot) -> bool:
    """Tell whether the kernel, or a part of it, has to lower."""
    return not why_not_lowered(declaration, snapshot)


def why_not_lowered(declaration: Declaration, snapshot: Snapshot) -> str:
    """Return why the kernel need not lower; empty when it has to."""
    if not is_used(declaration, snapshot):
        return "torch-tpu runs the op by itself"
    return "" if declaration.static_part is not None else declaration.dynamic


def _toolchain(options: argparse.Namespace, stack: contextlib.ExitStack) -> Toolchain | None:
    if not (options.lower or options.compile):
        return None
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    return stack.enter_context(Toolchain(options.python, folder))


def report(
    declaration: Declaration,
    outcomes: Sequence[Outcome],
    *,
    most: int,
    may_be_empty: bool = False,
) -> bool:
    """Print what the checks of a kernel came to, ``most`` failures each; return whether all passed.

    A kernel without a single sample has not passed, unless it ``may_be_empty``: some dtypes are not
    for all.
    """
    done = [outcome for outcome in outcomes if outcome.tried]
    tried = may_be_empty or any(o.check == "values" for o in done)
    good = tried and not any(o.failures for o in done)
    _say(f"{'pass' if good else 'FAIL'} {declaration.op}  {_summary(done) or 'no samples'}")
    for outcome in done:
        for message in outcome.failures[:most]:
            _say(f"     {outcome.check} {outcome.dtype}: {message}")
    return good


def _summary(done: Sequence[Outcome]) -> str:
    dtypes = " ".join(dict.fromkeys(o.dtype for o in done if o.dtype))
    parts = []
    for name in dict.fromkeys(outcome.check for outcome in done):
        of_check = [o for o in done if o.check == name]
        parts.append(f"{name} {sum(o.passed for o in of_check)}/{sum(o.tried for o in of_check)}")
    return f"{dtypes}: {', '.join(parts)}" if parts else ""


def _say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m op_registry.reference.check")
    parser.description = "Check reference kernels against eager PyTorch and the registry."
    parser.add_argument("op", nargs="*", help="op, file of kernels, or pattern; default: all")
    parser.add_argument("--dtype", action="append", choices=DTYPES, help="only this; repeatable")
    parser.add_argument("--lower", action="store_true", help="also lower through torch_tpu")
    parser.add_argument("--compile", action="store_true", help="also lower and compile")
    python = "interpreter that has torch-tpu and jax, for --lower and --compile"
    parser.add_argument("--python", default=sys.executable, help=python)
    parser.add_argument("--registry", help="snapshot to look ops up in")
    parser.add_argument("--most", type=int, default=3, help="failures shown of a check")
    return parser


if __name__ == "__main__":
    sys.exit(main())
