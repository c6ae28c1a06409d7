"""The scan command around the audit: what it asks, what it says of its exit code."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.reports import failed_phase, model, report
from tpu_audit import api

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.command_line import CommandLine
    from tpu_audit.types.report import Report


class FakeScan:
    """Answers with a ready report, tells progress, and keeps what it was asked."""

    def __init__(self, answer: Report) -> None:
        self.answer = answer
        self.targets: tuple[str, ...] = ()
        self.options = api.ScanOptions()

    def __call__(
        self,
        targets: Sequence[str],
        *,
        options: api.ScanOptions,
        progress: api.Progress | None = None,
    ) -> Report:
        """Scan nothing."""
        self.targets, self.options = tuple(targets), options
        if progress:
            progress.start(len(targets))
            for target in targets:
                progress.model(target)
                progress.done(target, "failed")
        return self.answer


@pytest.fixture(name="scan")
def _scan(monkeypatch: pytest.MonkeyPatch) -> FakeScan:
    """Put the fake in the place of the audit."""
    fake = FakeScan(report())
    monkeypatch.setattr(api, "scan", fake)
    return fake


def test_options_arrive(tpu_audit: CommandLine, scan: FakeScan) -> None:
    """Every option reaches the audit."""
    args = (
        "--dtype bf16,f16 --dtype float32 --batch 2 --seq-len 77 --offline --no-cache "
        "--registry 0.2.0 --tracer torch_tpu --tpu-python /py --timeout 5 --max-memory 999 "
        "--cache-dir there --revision main --chip v5p --with-reference-kernels "
        "--no-check-code --ignore TPA1,pin-memory --ignore TPA605"
    )
    tpu_audit("scan", "a", *args.split())

    options = scan.options
    assert scan.targets == ("a",)
    assert options.dtypes == ("bfloat16", "float16", "float32")
    assert (options.batch, options.seq_len, options.revision) == (2, 77, "main")
    assert (options.offline, options.use_cache, options.registry) == (True, False, "0.2.0")
    assert (options.tracer, options.tpu_python) == ("torch_tpu", "/py")
    assert (options.chip, options.with_reference_kernels) == ("v5p", True)
    assert (options.timeout_s, options.memory_mb) == (5.0, 999)
    assert str(options.cache_dir) == "there"
    assert (options.check_code, options.ignore) == (False, ("TPA1", "pin-memory", "TPA605"))


def test_findings_fail(tpu_audit: CommandLine, scan: FakeScan) -> None:
    """An error makes the exit code 1; --exit-zero hides it and says so."""
    assert tpu_audit("scan", "a").code == 1

    ran = tpu_audit("scan", "a", "--exit-zero")
    assert ran.code == 0
    assert ran.err == "warning: --exit-zero: the exit code hides 1 finding\n"

    assert tpu_audit("scan", "a", "--fail-on", "never").err == ""
    assert scan.targets == ("a",)


def test_incomplete(tpu_audit: CommandLine, scan: FakeScan) -> None:
    """A target that was not audited is 3; --allow-incomplete lowers it and says so."""
    gated = model(target="g", id="g", phases=(failed_phase(),))
    scan.answer = report([model(), gated], findings=[])
    assert tpu_audit("scan", "a", "g").code == 3

    ran = tpu_audit("scan", "a", "g", "--allow-incomplete")
    assert ran.code == 0
    assert "--allow-incomplete: the exit code hides what was not audited: g" in ran.err


def test_wrong_target_among_others(tpu_audit: CommandLine, scan: FakeScan) -> None:
    """The others are printed, and the exit code is 2 whatever is allowed."""
    absent = model(target="n", id="n", phases=(failed_phase("not_found"),))
    scan.answer = report([model(), absent])
    ran = tpu_audit("scan", "a", "n", "--allow-incomplete", "--exit-zero")

    assert ran.code == 2
    assert "bert-base-uncased" in ran.out
    assert "not_found" in ran.out


def test_interrupt(tpu_audit: CommandLine, scan: FakeScan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is 130 and says how far the scan was."""

    def interrupted(*_: object, **__: object) -> None:
        raise api.ScanInterrupted(scan.answer)

    monkeypatch.setattr(api, "scan", interrupted)
    ran = tpu_audit("scan", "a", "b", "c")

    assert (ran.code, ran.out) == (130, "")
    assert "1 of 3 targets were done" in ran.err


def test_progress_is_for_terminals(
    tpu_audit: CommandLine, scan: FakeScan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal stderr counts targets and names the failed ones, hostile names defused."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    quiet = tpu_audit("scan", "a\x1b[2J")
    assert quiet.err == ""

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    ran = tpu_audit("--color", "never", "scan", "a\x1b[2J")
    assert ran.out == quiet.out
    assert "a\\x1b[2J: failed" in terminal.getvalue()
    assert "1/1" in terminal.getvalue()
    assert scan.targets == ("a\x1b[2J",)

    monkeypatch.setattr(sys, "stderr", still := Terminal())
    tpu_audit("scan", "a", "--no-progress")
    assert still.getvalue() == ""


def test_absent_folder_for_real(tpu_audit: CommandLine) -> None:
    """A path that is not there goes through the real corridor to exit code 2, and is printed."""
    ran = tpu_audit("scan", "./absent", "-f", "json")

    (found,) = json.loads(ran.out)["models"]
    assert ran.code == 2
    assert found["phases"][0]["reason_code"] == "path_not_found"
