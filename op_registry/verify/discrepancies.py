"""Kernels that disagree with eager PyTorch: each seen twice, with the smallest call that shows it.

What a verification found is not taken at its word: the smallest sample that failed is lowered
afresh and run again, and so are variants of it. What does not fail again is dropped and counted.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from op_registry.evidence import DTYPES
from op_registry.verify.facts import LoweredSample
from op_registry.verify.tasks import Task, Tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from op_registry.verify.facts import Found, Ran
    from op_registry.verify.hand import Hand
    from op_registry.verify.workspace import Workspace

_PLACE = re.compile(r"most at \[([\d, ]*)\]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """A sample that failed, the smallest of its op, dtype and kind."""

    op: str
    dtype: str
    kind: str
    sample: LoweredSample
    message: str
    samples: int
    """How many samples failed so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Discrepancy:
    """A disagreement that was seen twice."""

    op: str
    dtype: str
    kind: str
    """``op_registry.verify.compare.Kind``."""
    message: str
    """What differs in the call that ``code`` makes: what was got and what eager PyTorch gives."""
    arguments: Mapping[str, Any]
    """Of the call, without the tensors."""
    tensors: Mapping[str, Any]
    """Dtype and shape of each tensor of the sample."""
    variant: str
    """Which call ``code`` makes: the ``same``, with ``constant`` tensors, or of ``one element``."""
    code: str
    """A Python function ``call(device)``."""
    shuffled: bool
    """Whether the call with the elements of its tensors in another order differs too."""
    samples: int
    """How many samples failed so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Inquiry:
    """What came of looking twice."""

    confirmed: tuple[Discrepancy, ...] = ()
    dropped: tuple[tuple[Suspect, str], ...] = ()
    """What did not fail again, and why it is not listed."""


def suspects(found: Iterable[Found]) -> list[Suspect]:
    """Return the smallest failing sample of each op, dtype and kind."""
    smallest: dict[tuple[str, str, str], Suspect] = {}
    for one in found:
        for index, ran in sorted(one.ran.items()):
            if not ran.kind or ran.problem is None:
                continue
            fresh = _suspect(one, index, ran)
            key = (fresh.op, fresh.dtype, fresh.kind)
            known = smallest.get(key, fresh)
            best = min(known, fresh, key=lambda suspect: suspect.sample.elements)
            count = 1 if known is fresh else known.samples + 1
            smallest[key] = replace(best, samples=count)
    return [smallest[key] for key in sorted(smallest)]


def _suspect(found: Found, index: int, ran: Ran) -> Suspect:
    return Suspect(
        op=found.op,
        dtype=found.dtype,
        kind=ran.kind,
        sample=next(sample for sample in found.samples if sample.index == index),
        message=ran.problem.message if ran.problem else "",
        samples=1,
    )


class Inquest:
    """Looks at suspects again, several at a time."""

    def __init__(self, workspace: Workspace, found: Sequence[Suspect]) -> None:
        self.tasks: Tasks[Hand] = Tasks()
        self._workspace = workspace
        self._confirmed: list[Discrepancy] = []
        self._dropped: list[tuple[Suspect, str]] = []
        for number, suspect in enumerate(found):
            self.tasks.add(
                Task(
                    urgency=(number,),
                    stage="confirm",
                    key=(suspect.op, suspect.dtype, suspect.kind),
                    do=partial(self._look, suspect),
                )
            )

    def result(self) -> Inquiry:
        """Return what was found, sorted; call it when all tasks are done."""
        confirmed = sorted(self._confirmed, key=lambda d: (d.kind, d.op, _place(d.dtype)))
        dropped = sorted(self._dropped, key=lambda item: (item[0].op, _place(item[0].dtype)))
        return Inquiry(confirmed=tuple(confirmed), dropped=tuple(dropped))

    def _look(self, suspect: Suspect, hand: Hand) -> None:
        with tempfile.TemporaryDirectory(prefix="tpu-audit-") as folder:
            variants, why = hand.vary(self._request(suspect, folder))
            seen = [(variant, self._again(suspect, variant, hand)) for variant in variants]
        if self.tasks.stopped:
            return
        failed = {variant["name"]: (variant, m) for variant, m in seen if m is not None}
        if "same" not in failed:
            self._dropped.append((suspect, why or "it agrees when it is lowered afresh"))
            return
        name = next(n for n in ("one element", "constant", "same") if n in failed)
        variant, message = failed[name]
        self._confirmed.append(
            Discrepancy(
                op=suspect.op,
                dtype=suspect.dtype,
                kind=suspect.kind,
                message=message,
                arguments=suspect.sample.arguments,
                tensors=suspect.sample.tensors,
                variant=name,
                code=variant["code"],
                shuffled="shuffled" in failed,
                samples=suspect.samples,
            )
        )

    def _request(self, suspect: Suspect, folder: str) -> dict[str, Any]:
        place = _PLACE.search(suspect.message)
        sample = suspect.sample
        values = sample.values
        assert values is not None  # noqa: S101 - a sample that ran has values
        record = {
            "arguments": sample.arguments,
            "tensors": sample.tensors,
            "undefined": sample.undefined,
            "values": {"inputs": values.inputs, "outputs": values.outputs},
        }
        return {
            "op": suspect.op,
            "dtype": suspect.dtype,
            "record": record,
            "values": str(self._workspace.values(values)),
            "folder": folder,
            "index": [int(i) for i in place[1].split(",") if i.strip()] if place else None,
        }

    def _again(self, suspect: Suspect, variant: dict[str, Any], hand: Hand) -> str | None:
        """Return in what a variant differs in the same way, None when it does not."""
        request = {key: variant[key] for key in variant if key not in {"name", "code"}}
        extra = {
            "op": suspect.op,
            "arguments": suspect.sample.arguments,
            "tolerance": suspect.sample.tolerance,
        }
        answer = hand.run(request | extra).get("done", {})
        return answer["message"] if answer.get("kind") == suspect.kind else None


def _place(dtype: str) -> int:
    return DTYPES.index(dtype) if dtype in DTYPES else len(DTYPES)
