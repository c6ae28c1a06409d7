"""Lowering goes on past samples that end the process."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.samples.handmade.declare import call
from op_registry.verify import stretches
from op_registry.verify.describe import unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pytest

    from op_registry.build.samples.sample import Sample

_OPS = ["aten.abs.default", "aten.exp.default", "aten.neg.default"]


class _Examiner:
    """Three samples an op; ``deeds`` are done for the second of aten.exp."""

    kind = "samples"
    dtype = "float32"

    def __init__(self, deed: Callable[[], object], *, while_making: bool = False) -> None:
        self._deed = deed
        self._while_making = while_making

    def samples(self, op: str, func: Any) -> list[Sample]:
        del func
        if self._while_making and "exp" in op:
            self._deed()
        return [call(torch.ones(size)) for size in (1, 2, 3)]

    def examine(self, op: str, func: Any, sample: Sample, before: Sequence[Any]) -> dict[str, Any]:
        if "exp" in op and len(before) == 1 and not self._while_making:
            self._deed()
        return unanswered(func, sample, len(before)) | {"lowered": True}


def _run(examiner: _Examiner, folder: Path) -> dict[str, Any]:
    stretches.lower_all(examiner, _OPS, folder)  # type: ignore[arg-type]
    lines = (folder / "samples.float32.jsonl").read_text(encoding="utf-8").splitlines()
    return {line["op"]: line for line in map(json.loads, lines)}


def _answers(line: dict[str, Any]) -> list[Any]:
    return [record["lowered"] for record in line["samples"]]


def test_a_crash_costs_one_sample(tmp_path: Path) -> None:
    """The sample under way says how it ended; those around it have their answers."""
    found = _run(_Examiner(lambda: os.kill(os.getpid(), signal.SIGSEGV)), tmp_path)
    crashed = ["crashed", "the process ended with SIGSEGV"]
    assert list(found) == _OPS
    assert _answers(found["aten.exp.default"]) == [True, crashed, True]
    assert _answers(found["aten.neg.default"]) == [True, True, True]


def test_an_abort_says_why(tmp_path: Path) -> None:
    """What the process printed last is part of the message."""

    def abort() -> None:
        os.write(2, b"F0101 00:00:00.000 1 kernel.cc:7] Check failed: rank == 1\n")
        os.abort()

    answers = _answers(_run(_Examiner(abort), tmp_path)["aten.exp.default"])
    assert answers[1][0] == "crashed"
    assert "Check failed: rank == 1" in answers[1][1]


def test_a_hang_costs_the_rest_of_the_op(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The op's other samples would hang as long; the next op goes on."""
    monkeypatch.setattr(stretches, "HANG_SECONDS", 1)
    found = _run(_Examiner(lambda: time.sleep(60)), tmp_path)
    assert _answers(found["aten.exp.default"]) == [True, ["timed_out", "took more than 1 s"]]
    assert _answers(found["aten.neg.default"]) == [True, True, True]


def test_a_crash_while_samples_are_made_is_an_error_of_the_op(tmp_path: Path) -> None:
    """Such an op has no samples, and its line says why."""
    examiner = _Examiner(lambda: os.kill(os.getpid(), signal.SIGSEGV), while_making=True)
    found = _run(examiner, tmp_path)
    assert found["aten.exp.default"]["samples"] == []
    assert found["aten.exp.default"]["error"].endswith("SIGSEGV")
    assert _answers(found["aten.neg.default"]) == [True, True, True]


def test_ops_with_a_line_are_passed_over(tmp_path: Path) -> None:
    """A second request adds what is lacking, also behind a line that a kill tore."""
    path = tmp_path / "samples.float32.jsonl"
    _run(_Examiner(lambda: None), tmp_path)
    first, second, _ = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{first}\n{second[:20]}", encoding="utf-8")
    found = _run(_Examiner(lambda: None), tmp_path)
    assert sorted(found) == _OPS
    assert path.read_text(encoding="utf-8").splitlines()[0] == first
