"""Sample calls for the ops that have a kernel: torch's own test inputs that reach them, by dtype.

The inputs are found by name (``nn.functional.mish`` for ``aten.mish_backward.default``), by what
the declaration adds, and among the hand-made samples.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.reenter import CompositeMode
from op_registry.build.samples.handmade.declare import handmade_samples
from op_registry.build.samples.sample import Sample
from op_registry.build.samples.trial import outcome
from op_registry.build.table import read_table
from op_registry.evidence import compute_dtype
from op_registry.reference.entries import Entry, entries_of, tolerant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.build.table import Entry as TableEntry
    from op_registry.reference.declare import Declaration

DTYPES = (
    *("float32", "bfloat16", "float16", "float64", "int32", "int64", "int8", "uint8"),
    *("bool", "complex64"),
)
"""The dtypes that kernels are checked at, in the order in which they are shown."""
MOST_SAMPLES = 20
"""Kept of one op at one dtype."""
_MOST_ALIKE = 3
"""Of these, with the same arguments besides the tensors."""
_NOT_ABOUT_ARGUMENTS = ("not implemented for", "not support", "Unsupported dtype")
"""Words of the CPU's own limits, which are no behaviour of the op."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Samples:
    """What there is to try an op with."""

    calls: Mapping[str, list[Sample]]
    """Dtype -> calls that eager PyTorch takes; filed by the dtype that is computed in."""
    wrong: list[Sample]
    """Calls that eager PyTorch refuses because of their arguments."""


def collect(
    declarations: Iterable[Declaration], dtypes: Iterable[str] = DTYPES
) -> dict[str, Samples]:
    """Return the samples of each declared op at ``dtypes``, by op; the same in every run.

    Raises ValueError when a declaration names an entry of test inputs that does not exist.
    """
    declared, wanted = list(declarations), list(dtypes)
    run = dict.fromkeys([*(["float32"] if "bfloat16" in wanted else []), *wanted])
    harvester = Harvester({d.op: d.most_elements for d in declared})
    for entry in {id(e): e for d in declared for e in entries_of(d.op, d.samples)}.values():
        harvester.run(entry, run)
    for declaration in declared:
        for name in run:
            for sample in handmade_samples(declaration.op, getattr(torch, name)):
                if outcome(declaration.eager, sample)[0]:
                    harvester.keep(declaration.op, name, sample)
        if "bfloat16" in wanted:
            harvester.keep_bfloat16(declaration)
    return {
        declaration.op: Samples(
            calls={n: c for n in wanted if (c := harvester.calls[declaration.op].get(n))},
            wrong=harvester.wrong[declaration.op],
        )
        for declaration in declared
    }


class Harvester(CompositeMode):
    """Notes the arguments of every call that it sees of some ops.

    ``most_elements`` says by op how large a tensor may be.
    """

    def __init__(self, most_elements: Mapping[str, int]) -> None:
        super().__init__(table())
        self._most_elements = most_elements
        self.calls: dict[str, dict[str, list[Sample]]] = {op: {} for op in most_elements}
        self.wrong: dict[str, list[Sample]] = {op: [] for op in self.calls}
        self._kept: Counter[tuple[str, ...]] = Counter()
        self._refusals = False

    def run(self, entry: Entry, dtypes: Iterable[str]) -> None:
        """Note the calls that the inputs of ``entry`` come to, forward and backward."""
        for name in dtypes:
            dtype = getattr(torch, name)
            for call in entry.calls(dtype, requires_grad=False):
                # Here even the ops that autograd would take apart reach a dispatch mode whole.
                with tolerant(), torch.inference_mode(), self:
                    call()
            for call in entry.calls(dtype, requires_grad=True):
                with tolerant(), self:
                    _backward(call())
        self._refusals = True
        for call in entry.wrong():
            with tolerant(), torch.inference_mode(), self:
                call()
        self._refusals = False

    def keep_bfloat16(self, declaration: Declaration) -> None:
        """Keep the float32 calls in bfloat16 where a GPU takes it and the CPU does not."""
        calls, entries = self.calls[declaration.op], entries_of(declaration.op, declaration.samples)
        if calls.get("bfloat16") or not any(e.on_accelerators(torch.bfloat16) for e in entries):
            return
        for sample in calls.get("float32", ()):
            self.keep(declaration.op, "bfloat16", _in_bfloat16(sample))

    def composite(
        self, name: str, func: Any, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Note the call, then go on into the composite."""
        with self._noted(name, args, kwargs):
            return super().composite(name, func, key, args, kwargs)

    def leaf(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note the call, then run it."""
        with self._noted(name, args, kwargs):
            return super().leaf(name, func, args, kwargs)

    @contextlib.contextmanager
    def _noted(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name not in self.calls:
            yield
            return
        sample = Sample(args=args, kwargs=kwargs)
        copied = sample.copied() if sample.usable() else None
        try:
            yield
        except Exception as error:
            if copied and self._refusals and not any(w in str(error) for w in _NOT_ABOUT_ARGUMENTS):
                self.wrong[name].append(copied)
            raise
        tensors = sample.tensors()
        if copied and tensors and not self._refusals:
            self.keep(name, _filed_under(tensors), copied)

    def keep(self, op: str, dtype: str, sample: Sample) -> None:
        """Keep ``sample`` unless it is too large, or there are enough, or enough that are alike."""
        if any(tensor.numel() > self._most_elements[op] for tensor in sample.tensors()):
            return
        kept = self.calls[op].setdefault(dtype, [])
        exact, alike = (op, sample.signature()), (op, dtype, sample.choice())
        if len(kept) < MOST_SAMPLES and not self._kept[exact] and self._kept[alike] < _MOST_ALIKE:
            self._kept.update({exact, alike})
            kept.append(sample)


def _in_bfloat16(sample: Sample) -> Sample:
    def cast(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype is torch.float32:
            return value.to(torch.bfloat16)
        return torch.bfloat16 if value is torch.float32 else value

    args, kwargs = pytree.tree_map(cast, (sample.args, sample.kwargs))
    return Sample(args=args, kwargs=kwargs)


def _filed_under(tensors: list[torch.Tensor]) -> str:
    return compute_dtype(str(t.dtype).removeprefix("torch.") for t in tensors) or ""


@functools.cache
def table() -> dict[str, TableEntry]:
    """Return the dispatcher's table of this process as it was at first."""
    return read_table()


def _backward(result: Any) -> None:
    outputs = [
        t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad
    ]
    with torch.autograd.set_multithreading_enabled(False):
        torch.autograd.backward(outputs, [torch.ones_like(t) for t in outputs])
