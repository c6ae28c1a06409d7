"""Scanning: targets in, one typed report out, whatever happens to a single target."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import tpu_audit
from op_registry import loader
from op_registry.codec import encode
from op_registry.evidence import Cause
from op_registry.schema import Support
from tests.support.calls import proofs, record, snapshot, tally, tensor, use
from tpu_audit.api import ScanInterrupted, ScanOptions, scan
from tpu_audit.trace import isolate, oracle
from tpu_audit.types.errors import NotAuditedError, Stage, TpuAuditError, UsageError
from tpu_audit.types.report import Status, Verdict
from tpu_audit.types.trace import Trace

if TYPE_CHECKING:
    from pathlib import Path

    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.report import Report
    from tpu_audit.types.trace import TraceSettings

TINY = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "vocab_size": 100,
}


class Tracers:
    """Stands in for the tracers: counts, and does as it is told for a config's ``do``."""

    def __init__(self) -> None:
        self.traced: list[tuple[str, str]] = []

    def __call__(self, spec: ModelSpec, settings: TraceSettings, *_: object) -> tuple[Trace, ...]:
        """Trace, or raise what the config asks for."""
        self.traced.append((spec.id, settings.dtype))
        match spec.config.get("do"):
            case "fail":
                raise NotAuditedError("no such class", stage=Stage.BUILD, code="unknown", hint="h")
            case "skip":
                raise NotAuditedError("weights", stage=Stage.BUILD, code="gguf", skipped=True)
            case "break":
                raise ZeroDivisionError("by zero")
            case "interrupt":
                raise KeyboardInterrupt
            case "give up":
                raise TpuAuditError("this torch cannot")
        linear = use("aten.linear.default", tensor(1, 8, dtype=settings.dtype))
        return (Trace(settings=settings, architecture="Built", parameters=7, ops=(linear,)),)


@pytest.fixture(name="tracers")
def _tracers(monkeypatch: pytest.MonkeyPatch) -> Tracers:
    """Replace both tracers."""
    tracers = Tracers()
    monkeypatch.setattr(isolate, "trace_isolated", tracers)
    monkeypatch.setattr(oracle, "run_trace_torch_tpu", tracers)
    return tracers


@pytest.fixture(name="make")
def _make(tmp_path: Path) -> Any:
    """Write a model folder and return its path as a target."""

    def make(name: str, **config: Any) -> str:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(TINY | config))
        return str(folder)

    return make


@pytest.fixture(name="options")
def _options(tmp_path: Path) -> ScanOptions:
    """Keep the cache in a temporary folder, and touch no network."""
    return ScanOptions(cache_dir=tmp_path / "cache", offline=True)


def with_(options: ScanOptions, **changes: Any) -> ScanOptions:
    """Return changed options."""
    kept = {name: getattr(options, name) for name in ScanOptions.__slots__}
    return ScanOptions(**(kept | changes))


def statuses(report: Report) -> list[list[str]]:
    """Return the statuses of all models' phases."""
    return [[phase.status.value for phase in model.phases] for model in report.models]


@pytest.mark.usefixtures("tracers")
def test_a_report_says_what_judged_and_what_was_built(make: Any, options: ScanOptions) -> None:
    """Versions, registry and the class that was traced are in the report."""
    report = scan([make("a")], options=options)
    (model,) = report.models
    snapshot = loader.load(None)
    assert report.tool.version == tpu_audit.__version__
    assert report.versions.registry.digest == snapshot.digest
    assert report.versions.registry.package == "torch-tpu"
    assert (model.architecture, model.parameters, model.model_type) == ("Built", 7, "bert")
    assert (model.config_source, model.library) == ("local", "transformers")
    assert [row.op for row in model.phases[0].ops] == ["aten.linear.default"]
    assert model.phases[0].verdict is Verdict.READY


@pytest.mark.usefixtures("tracers")
def test_the_chip_and_installed_kernels_judge(
    make: Any, options: ScanOptions, tmp_path: Path
) -> None:
    """One trace: blocked where the chip's compiler refuses, ready where a kernel is installed."""
    refuses = {"v5e": tally(0, 1, (Cause.REJECTED, "no dot", 1)), "v6e": tally(1, 1)}
    kernel = "op_registry.reference.kernels.linear.linear"
    records = {
        "native": record("aten.linear.default", dtypes={"bfloat16": proofs(compiled=refuses)}),
        "missing": record("aten.linear.default", Support.MISSING, reference=kernel),
    }
    for name, linear in records.items():
        (tmp_path / f"{name}.json").write_bytes(encode(snapshot(linear)))

    def phase(registry: str, **changes: Any) -> tuple[str, bool, Verdict]:
        changed = with_(options, registry=str(tmp_path / f"{registry}.json"), **changes)
        (found,) = scan([target], options=changed).models[0].phases
        return found.chip, found.reference_kernels, found.verdict

    target = make("a")
    assert phase("native") == ("v6e", False, Verdict.READY)
    assert phase("native", chip="v5e") == ("v5e", False, Verdict.BLOCKED)
    assert phase("missing") == ("v6e", False, Verdict.BLOCKED)
    assert phase("missing", with_reference_kernels=True) == (
        "v6e",
        True,
        Verdict.READY_WITH_WARNINGS,
    )


def test_each_dtype_is_a_phase(make: Any, options: ScanOptions, tracers: Tracers) -> None:
    """Two dtypes, two phases, two traces."""
    report = scan([make("a")], options=with_(options, dtypes=("bf16", "f16")))
    assert [phase.dtype for phase in report.models[0].phases] == ["bfloat16", "float16"]
    assert [dtype for _, dtype in tracers.traced] == ["bfloat16", "float16"]


def test_the_second_scan_comes_from_the_cache(
    make: Any, options: ScanOptions, tracers: Tracers
) -> None:
    """The same config is traced once; so is its copy under another name."""
    first = make("a")
    again = make("b", _name_or_path="elsewhere")
    assert not scan([first], options=options).models[0].phases[0].cached
    report = scan([first, again], options=options)
    assert [model.phases[0].cached for model in report.models] == [True, True]
    assert len(tracers.traced) == 1


def test_without_the_cache(make: Any, options: ScanOptions, tracers: Tracers) -> None:
    """``use_cache`` False traces anew."""
    target = make("a")
    for _ in range(2):
        report = scan([target], options=with_(options, use_cache=False))
        assert not report.models[0].phases[0].cached
    assert len(tracers.traced) == 2


@pytest.mark.usefixtures("tracers")
def test_one_target_never_loses_the_others(make: Any, options: ScanOptions, tmp_path: Path) -> None:
    """Failed, skipped, broken, missing and misspelt targets stand beside the good ones."""
    targets = [
        make("good"),
        make("fails", do="fail"),
        make("skips", do="skip"),
        make("breaks", do="break"),
        str(tmp_path / "nowhere.json"),
        "bad@@id",
        make("good too", hidden_size=64),
    ]
    report = scan(targets, options=options)
    assert [model.target for model in report.models] == targets
    assert statuses(report) == [
        ["traced"],
        ["failed"],
        ["skipped"],
        ["failed"],
        ["failed"],
        ["failed"],
        ["traced"],
    ]
    codes = [model.phases[0].reason_code for model in report.models]
    assert codes == [None, "unknown", "gguf", "internal", "path_not_found", "bad_target", None]
    fails = report.models[1].phases[0]
    assert (fails.stage, fails.reason, fails.verdict) == (
        "build",
        "no such class; h",
        Verdict.UNKNOWN,
    )
    assert "ZeroDivisionError: by zero" in (report.models[3].phases[0].reason or "")


def test_a_failure_is_not_cached(make: Any, options: ScanOptions, tracers: Tracers) -> None:
    """What failed is tried again: its cause may be gone."""
    target = make("fails", do="fail")
    scan([target], options=options)
    scan([target], options=options)
    assert len(tracers.traced) == 2


def test_a_target_twice_is_audited_once(make: Any, options: ScanOptions, tracers: Tracers) -> None:
    """The same spelling is dropped; the same model under two spellings is noted."""
    target = make("a")
    report = scan([target, target, f"{target}/."], options=options)
    assert len(report.models) == 1
    assert len(tracers.traced) == 1


@pytest.mark.usefixtures("tracers")
def test_two_names_of_one_model(options: ScanOptions) -> None:
    """A legacy id and its new home are one model, audited once, with a note."""
    report = scan(["bert-base-uncased", "google-bert/bert-base-uncased"], options=options)
    assert len(report.models) == 1
    note = "google-bert/bert-base-uncased is the same model as bert-base-uncased: audited once"
    assert note in report.notes


@pytest.mark.usefixtures("tracers")
def test_an_interrupt_keeps_what_is_done(make: Any, options: ScanOptions) -> None:
    """Ctrl-C in the second target: the first is in the exception's report."""
    targets = [make("a"), make("b", do="interrupt"), make("c")]
    with pytest.raises(ScanInterrupted) as caught:
        scan(targets, options=options)
    assert [model.target for model in caught.value.report.models] == targets[:1]
    assert isinstance(caught.value, KeyboardInterrupt)


@pytest.mark.usefixtures("tracers")
def test_an_installation_that_cannot_trace_stops_the_scan(make: Any, options: ScanOptions) -> None:
    """What is wrong with the installation is no target's failure."""
    with pytest.raises(TpuAuditError, match="this torch cannot"):
        scan([make("a", do="give up")], options=options)


@pytest.mark.parametrize("targets", [[], "bert-base-uncased"])
def test_nothing_to_scan(targets: Any) -> None:
    """No target, or a bare string, is refused."""
    with pytest.raises(UsageError, match="nothing to scan"):
        scan(targets)


def test_an_unknown_registry(options: ScanOptions) -> None:
    """A registry that does not exist is refused before any target is touched."""
    with pytest.raises(UsageError, match=r"0\.0\.0"):
        scan(["a"], options=with_(options, registry="0.0.0"))


@pytest.mark.usefixtures("tracers")
def test_a_registry_of_another_torch_is_said(make: Any, options: ScanOptions) -> None:
    """A mismatch between registry and torch is a note; the fitting registry has none."""
    fitting = loader.load(None)
    other = next(n for n in loader.available() if not fitting.torch.startswith(n[-4:]))
    report = scan([make("a")], options=with_(options, registry=other))
    assert any("extracted with torch" in note for note in report.notes)
    assert not any("extracted" in note for note in scan([make("b")], options=options).notes)


@pytest.mark.usefixtures("tracers")
def test_a_cache_that_cannot_be_written_is_said(
    make: Any, options: ScanOptions, tmp_path: Path
) -> None:
    """The scan works, and one note says that nothing is kept."""
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    report = scan([make("a"), make("b", hidden_size=64)], options=with_(options, cache_dir=blocked))
    assert statuses(report) == [["traced"], ["traced"]]
    assert sum("traces are not kept" in note for note in report.notes) == 1


@pytest.mark.usefixtures("tracers")
def test_progress_is_told(make: Any, options: ScanOptions) -> None:
    """Start with the total, then each target with its outcome."""
    told: list[tuple[object, ...]] = []

    class Told:
        def start(self, total: int) -> None:
            told.append(("start", total))

        def model(self, target: str) -> None:
            told.append(("model", target))

        def done(self, target: str, status: str) -> None:
            told.append(("done", target, status))

    good, bad = make("a"), make("b", do="fail")
    scan([good, bad], options=options, progress=Told())
    assert told == [
        ("start", 2),
        ("model", good),
        ("done", good, "traced"),
        ("model", bad),
        ("done", bad, "failed"),
    ]


def test_lazy_import() -> None:
    """``import tpu_audit`` loads nothing; ``tpu_audit.scan`` is the API's."""
    script = (
        "import sys, tpu_audit\n"
        "assert 'tpu_audit.api' not in sys.modules\n"
        "from tpu_audit import scan\n"
        "from tpu_audit.api import scan as same\n"
        "assert scan is same and tpu_audit.ScanOptions\n"
        "heavy = {'torch', 'transformers', 'huggingface_hub'}\n"
        "assert not heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(AttributeError, match="nothing_like_this"):
        tpu_audit.nothing_like_this  # noqa: B018 - the look-up is what is tested


_REAL = """
import sys
from pathlib import Path
from tpu_audit import ScanOptions, scan
report = scan([sys.argv[1]], options=ScanOptions(cache_dir=Path(sys.argv[2]), seq_len=8))
heavy = sorted({'torch', 'transformers', 'huggingface_hub'} & set(sys.modules))
phase = report.models[0].phases[0]
print(phase.status, phase.cached, len(phase.ops) > 10, heavy)
"""


def test_a_real_scan_then_a_cached_one(make: Any, tmp_path: Path) -> None:
    """A real model is traced; its second scan imports neither torch nor transformers."""
    arguments = [sys.executable, "-c", _REAL, make("a"), str(tmp_path / "cache")]
    runs = [subprocess.run(arguments, capture_output=True, text=True, check=True) for _ in range(2)]
    assert runs[0].stdout.startswith(f"{Status.TRACED} False True")
    assert runs[1].stdout.strip() == f"{Status.TRACED} True True []"
    assert runs[0].stderr == runs[1].stderr == ""
