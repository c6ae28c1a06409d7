"""Decides which kernels to install: what the dispatcher of this process lacks, and no more."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from op_registry.build.declarations import has_formula, read_derivatives
from op_registry.build.gradients import no_gradient
from op_registry.build.table import overload_of, read_table
from op_registry.errors import RegistryError
from op_registry.reference.adapt import adapted
from op_registry.reference.declare import declared
from op_registry.reference.derived import derive
from op_registry.reference.formulas import derivatives, needs
from op_registry.reference.keep_gradient import keeping_gradient
from op_registry.schema import Resolution, Snapshot, Support

if TYPE_CHECKING:
    from collections.abc import Iterable

_BACKEND, _AUTOGRAD = "PrivateUse1", "AutogradPrivateUse1"
_NO_KERNEL = frozenset({Resolution.FALLBACK, Resolution.NONE})
_HAS_KERNEL = "torch-tpu has a kernel"
_COMPOSITE = "PyTorch makes it of ops that have kernels"
_NO_OP = "this environment has no such op"


@dataclass(frozen=True, kw_only=True, slots=True)
class InstalledKernel:
    """One op that was considered."""

    op: str
    path: str
    """Import path of the kernel, or of what keeps the gradient."""
    derived: bool = False
    """An in-place or ``out=`` overload, made from the functional kernel at ``path``."""
    keeps_gradient: bool = False
    """torch-tpu has the kernel, which loses gradients: only calls that need one go elsewhere."""
    reason: str = ""
    """Why nothing is registered; empty for what is."""

    @property
    def installs(self) -> bool:
        """Whether something is registered for the op."""
        return not self.reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What is to be registered for one op."""

    entry: InstalledKernel
    function: Callable[..., Any]
    keys: tuple[str, ...]
    """Dispatch keys."""


def plan(
    only: Iterable[str] | None, *, snapshot: Snapshot, installed: Mapping[str, InstalledKernel]
) -> list[Step]:
    """Return a step for each op considered, sorted by op; ``installed`` are of earlier calls.

    Raises RegistryError when ``only`` names what has no kernel.
    """
    planner = _Planner(snapshot, installed)
    steps = [*planner.kernels(), *planner.gradients()]
    if only is not None:
        steps = _chosen(list(only), steps)
    return sorted(steps, key=lambda step: step.entry.op)


class _Planner:
    def __init__(self, snapshot: Snapshot, installed: Mapping[str, InstalledKernel]) -> None:
        self._declared = declared()
        self._snapshot = snapshot
        self._installed = installed
        self._table = read_table()

    def kernels(self) -> list[Step]:
        """Return steps for the declared kernels and what derives from them."""
        steps = []
        for declaration in self._declared.values():
            op, path = declaration.op, declaration.path
            steps.append(self._step(op, path, declaration.function))
            if op in self._table:
                steps += [
                    self._step(other.op, path, other.function, derived=True)
                    for other in derive(declaration)
                    if other.op not in self._declared
                ]
        return steps

    def gradients(self) -> list[Step]:
        """Return steps for the ops whose gradient torch-tpu's kernel loses."""
        formulas = _formulas()
        steps = []
        for op, entry in self._table.items():
            lost = no_gradient(entry, has_formula=has_formula(op, formulas))
            if (lost or self._kept(op)) and (overload := overload_of(op)) is not None:
                path = f"{keeping_gradient.__module__}.{keeping_gradient.__qualname__}"
                kept = InstalledKernel(op=op, path=path, keeps_gradient=True)
                steps.append(
                    Step(entry=kept, function=keeping_gradient(overload), keys=(_AUTOGRAD,))
                )
        return steps

    def _kept(self, op: str) -> bool:
        return op in self._installed and self._installed[op].keeps_gradient

    def _step(
        self, op: str, path: str, function: Callable[..., Any], *, derived: bool = False
    ) -> Step:
        reason = self._reason(op, derived=derived)
        entry = InstalledKernel(op=op, path=path, derived=derived, reason=reason)
        overload = overload_of(op)
        if overload is None:
            return Step(entry=entry, function=function, keys=())
        # Autograd takes a composite apart: its kernel has to stand where autograd does.
        whole = Resolution.COMPOSITE_IMPLICIT in self._table[op].composites
        if op in self._declared:
            whole |= bool(self._declared[op].own_gradient)
        keys = (_BACKEND, _AUTOGRAD) if whole else (_BACKEND,)
        return Step(entry=entry, function=adapted(function, overload._schema), keys=keys)

    def _reason(self, op: str, *, derived: bool) -> str:
        if op not in self._table:
            return _NO_OP
        if op in self._installed or self._lacks(op, composites=not derived):
            return ""
        return _HAS_KERNEL if self._table[op].privateuse1 is Resolution.KERNEL else _COMPOSITE

    def _lacks(self, op: str, *, composites: bool) -> bool:
        """Tell whether a call of ``op`` raises; with ``composites`` also through its pieces."""
        if op in self._installed:
            return not self._installed[op].keeps_gradient
        entry = self._table.get(op)
        if entry is None or entry.privateuse1 in _NO_KERNEL:
            return True
        if not composites or entry.privateuse1 is Resolution.KERNEL:
            return False
        record = self._snapshot.get(op)
        if record is None:
            return False
        if not record.ends_in:
            return record.support is Support.MISSING
        return any(piece != op and self._lacks(piece, composites=True) for piece in record.ends_in)


def _chosen(only: list[str], steps: list[Step]) -> list[Step]:
    by_op = {step.entry.op: step for step in steps}
    todo = [op for name in only for op in _named(name, by_op)]
    chosen: dict[str, Step] = {}
    while todo:
        op = todo.pop()
        if op in chosen:
            continue
        chosen[op] = by_op[op]
        path = by_op[op].entry.path
        same = [s.entry.op for s in steps if s.entry.derived and s.entry.path == path]
        needed = needs(op, declared())
        todo += [other for other in (*same, *needed) if other in by_op]
    return list(chosen.values())


def _named(name: str, by_op: Mapping[str, Step]) -> list[str]:
    found = [op for op in by_op if op == name or op.rpartition(".")[0] == name]
    if found:
        return found
    close = difflib.get_close_matches(name, by_op, 3)
    hint = f"did you mean {' or '.join(close)}?" if close else "declared() lists them"
    raise RegistryError(f"there is no reference kernel for {name!r}", hint=hint)


@functools.cache
def _formulas() -> frozenset[str]:
    return read_derivatives(derivatives())
