"""Lowers one sample and keeps its program and values; says what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.answers import first_line
from op_registry.evidence import Cause
from op_registry.reference.declare import Kernel, declared
from op_registry.toolchain import arrays
from op_registry.toolchain.programs import digest
from op_registry.verify.describe import unanswered
from op_registry.verify.lowering import Lowered, lower
from op_registry.verify.stand_in import fitted
from op_registry.verify.values import expected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from op_registry.build.samples.sample import Sample
    from op_registry.build.table import Entry
    from op_registry.verify.cases import Cases
    from op_registry.verify.values import Expected

MOST_VALUES = 3
"""Of an op's lowered samples, so many keep their values."""
RANDOM_TAG = "nondeterministic_seeded"


class Examiner:
    """Makes the records of samples, and the files they name in ``folder``."""

    kind = "samples"
    """What the file of results is called."""
    uses_stand_ins = True
    """Whether reference kernels stand in where the CPU has no kernel."""

    def __init__(self, cases: Cases, table: Mapping[str, Entry], folder: Path) -> None:
        self.dtype = cases.dtype
        self._cases = cases
        self._table = table
        self._folder = folder
        self._stand_ins = _stand_ins() if self.uses_stand_ins else {}
        self._values_folder = f"values/{self.dtype}" + (
            "" if self.kind == "samples" else f".{self.kind}"
        )
        for name in ("programs", self._values_folder):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def samples(self, op: str, func: Any) -> list[Sample]:
        """Return the samples of ``op``."""
        return self._cases.samples(op, func)

    def subject(self, func: Any, sample: Sample) -> tuple[Any, Sample]:
        """Return what is lowered for a sample: here the call itself."""
        return func, sample

    def examine(
        self, op: str, func: Any, sample: Sample, before: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the record of ``sample``; ``before`` are those of the op's samples before it."""
        try:
            return self._examined(op, func, sample, before)
        except Exception as error:  # noqa: BLE001  # results of kinds that nothing here foresees
            how = [Cause.OTHER.value, first_line(error)]
            return unanswered(func, sample, len(before)) | {"lowered": how}

    def _examined(
        self, op: str, func: Any, sample: Sample, before: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        kind: torch.dtype = getattr(torch, self.dtype)
        subject, given = self.subject(func, sample)
        right = expected(subject, given, kind, self._stand_ins.get(op))
        answer = lower(subject, given, right.hidden if right else frozenset())
        if right and right.by_reference and isinstance(answer, Lowered):
            answer = replace(answer, outputs=tuple(range(len(answer.shapes))))
            right = fitted(right, answer)
        record = unanswered(func, sample, len(before))
        if isinstance(answer, Lowered):
            record["lowered"] = True
            self._keep(record, answer)
            if right and _match(answer, right) and _kept(before) < MOST_VALUES:
                record["values"] = self._values(op, len(before), given, answer, right)
        else:
            record["lowered"] = [answer.cause.value, answer.message]
        record["flags"] = self._flags(op, answer, right)
        if right and isinstance(answer, Lowered):
            record["undefined"] = [
                place for place, at in enumerate(answer.outputs) if at in right.undefined
            ]
        return record

    def _keep(self, record: dict[str, Any], lowered: Lowered) -> None:
        if lowered.program:
            record["program"] = digest(lowered.program)
            path = self._folder / "programs" / f"{record['program']}.mlir"
            if not path.exists():
                path.write_text(lowered.program, encoding="utf-8")

    def _values(
        self, op: str, index: int, sample: Sample, lowered: Lowered, right: Expected
    ) -> dict[str, Any]:
        tensors = sample.tensors()
        inputs = [tensors[place] for place in lowered.inputs]
        outputs = [right.outputs[place] for place in lowered.outputs]
        references = [right.reference[place] for place in lowered.outputs if right.reference]
        path = f"{self._values_folder}/{op}.{index}"
        arrays.save(self._folder / path, [*inputs, *outputs, *references])
        return {
            "path": path,
            "inputs": len(inputs),
            "outputs": len(outputs),
            "references": len(references),
        }

    def _flags(self, op: str, answer: object, right: Expected | None) -> list[str]:
        found = []
        if RANDOM_TAG in self._table[op].tags:
            found.append("random")
        if isinstance(answer, Lowered) and answer.host_integers:
            found.append("host_integers")
        if right is None:
            return [*found, "no_values"]
        if right.outputs and len(right.undefined) == len(right.outputs):
            found.append("shape_only")
        if right.hidden:
            found.append("hidden_write")
        if right.by_reference:
            found.append("reference_kernel")
        return found


def _stand_ins() -> dict[str, Kernel]:
    return {op: one.expected or one.function for op, one in declared().items()}


def _match(lowered: Lowered, right: Expected) -> bool:
    """Tell whether every result of the program has one to compare with."""
    return bool(lowered.outputs) and max(lowered.outputs) < len(right.outputs)


def _kept(before: Sequence[Mapping[str, Any]]) -> int:
    return sum(record["values"] is not None for record in before)
