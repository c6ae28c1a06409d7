"""Looks at suspects a second time, and at samples at the edge for the first and second time."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from op_registry.evidence import place
from op_registry.verify.collect import run_key
from op_registry.verify.discrepancies import EDGES, INDICES, Discrepancy, Inquiry, Suspect
from op_registry.verify.tasks import Task, Tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from op_registry.verify.hand import Hand
    from op_registry.verify.workspace import Workspace

_PLACE = re.compile(r"most at \[([\d, ]*)\]")
_STAGE = "edges"


class Inquest:
    """The tasks of looking again; ``result`` when they are done.

    ``found`` failed once. ``at_edges`` are taken to every edge first; the journal keeps what that
    showed.
    """

    def __init__(
        self, workspace: Workspace, found: Iterable[Suspect], at_edges: Iterable[Suspect] = ()
    ) -> None:
        self.tasks: Tasks[Hand] = Tasks()
        self._workspace = workspace
        self._confirmed: list[Discrepancy] = []
        self._dropped: list[tuple[Suspect, str]] = []
        self._edges = 0
        for suspect in found:
            self._add("confirm", suspect, self._confirm)
        for case in at_edges:
            self._add(_STAGE, case, self._to_edges)

    def result(self) -> Inquiry:
        """Return what was found, sorted; call it when all tasks are done."""
        confirmed = sorted(self._confirmed, key=lambda d: (d.kind, d.op, place(d.dtype), d.edge))
        dropped = sorted(self._dropped, key=lambda item: (item[0].op, place(item[0].dtype)))
        return Inquiry(confirmed=tuple(confirmed), dropped=tuple(dropped), edges=self._edges)

    def _add(self, stage: str, suspect: Suspect, do: Callable[[Suspect, Hand], None]) -> None:
        key = (suspect.op, suspect.dtype, suspect.kind, suspect.edge)
        urgency = (0 if stage == "confirm" else 1,)
        self.tasks.add(Task(urgency=urgency, stage=stage, key=key, do=partial(do, suspect)))

    def _to_edges(self, case: Suspect, hand: Hand) -> None:
        """Take a sample to every edge; what differs there becomes a suspect."""
        key = run_key(self._workspace, case.op, case.sample)
        seen = self._workspace.journal.get(_STAGE, key)
        if seen is None:
            seen = self._see_edges(case, hand)
            if self.tasks.stopped:
                return
            self._workspace.journal.put(_STAGE, key, seen)
        self._edges += len(seen)
        for one in seen:
            if one["kind"]:
                fresh = replace(case, kind=one["kind"], edge=one["edge"], message=one["message"])
                self._add("confirm", fresh, self._confirm)

    def _see_edges(self, case: Suspect, hand: Hand) -> list[dict[str, str]]:
        program = str(self._workspace.program(case.sample.program or ""))
        with tempfile.TemporaryDirectory(prefix="tpu-audit-") as folder:
            variants, _ = hand.vary(self._request(case, folder, edges=list(EDGES)))
            seen = []
            for variant in variants:
                edge = variant["name"]
                kind, message = _difference(case, edge, variant | {"program": program}, hand)
                seen.append({"edge": edge, "kind": kind, "message": message})
        return seen

    def _confirm(self, suspect: Suspect, hand: Hand) -> None:
        with tempfile.TemporaryDirectory(prefix="tpu-audit-") as folder:
            variants, why = hand.vary(self._request(suspect, folder))
            seen = [(v, *_difference(suspect, suspect.edge, v, hand)) for v in variants]
        if self.tasks.stopped:
            return
        failed = {v["name"]: (v, message) for v, kind, message in seen if kind == suspect.kind}
        if "same" not in failed:
            self._dropped.append((suspect, why or "it agrees when it is lowered afresh"))
            return
        name = next(n for n in ("one element", "constant", "same") if n in failed)
        variant, message = failed[name]
        self._confirmed.append(_discrepancy(suspect, variant, message, set(failed)))

    def _request(
        self, suspect: Suspect, folder: str, edges: list[str] | None = None
    ) -> dict[str, Any]:
        sample = suspect.sample
        values = sample.values
        assert values is not None  # noqa: S101 - a sample that ran has values
        place = _PLACE.search(suspect.message)
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
            "edges": edges,
            "edge": suspect.edge,
            "index": [int(i) for i in place[1].split(",") if i.strip()] if place else None,
        }


def _difference(
    suspect: Suspect, edge: str, variant: dict[str, Any], hand: Hand
) -> tuple[str, str]:
    """Run a variant; return in what it differs, and how; two empty texts when it agrees."""
    counts = ("inputs", "outputs", "references", "undefined")
    request = {key: variant[key] for key in ("program", "values", *counts)}
    sample = suspect.sample
    extra = {
        "op": suspect.op,
        "dtype": suspect.dtype,
        "arguments": sample.arguments,
        "tolerance": sample.tolerance,
    }
    answer = hand.run(request | extra).get("done", {})
    kind, message = answer.get("kind", ""), answer.get("message", "")
    if variant["raises"]:
        # It was compared with no results at all: that they are too many shows that it ran.
        ran = kind == "count" and edge == INDICES
        return (INDICES, "the kernel returns a result") if ran else ("", "")
    return (INDICES if kind and edge == INDICES else kind), message


def _discrepancy(
    suspect: Suspect, variant: dict[str, Any], message: str, failed: set[str]
) -> Discrepancy:
    return Discrepancy(
        op=suspect.op,
        dtype=suspect.dtype,
        kind=suspect.kind,
        message=message,
        raises=variant["raises"],
        arguments=suspect.sample.arguments,
        tensors=suspect.sample.tensors,
        variant=variant["name"],
        edge=suspect.edge,
        code=variant["code"],
        shuffled="shuffled" in failed,
        samples=suspect.samples,
    )
