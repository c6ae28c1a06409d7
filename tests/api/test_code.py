"""A scan checks the code that comes with a model, and runs none of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.configs import BERT
from tests.support.fakehub_wire import Fault
from tests.support.remote_code import (
    FOLDER,
    REPOSITORIES,
    expected,
    found,
    local_copy,
    serve,
    trace_native_alone,
)
from tpu_audit.api import ScanOptions, scan, target
from tpu_audit.check import pool
from tpu_audit.cli.gate import Gate, exit_code
from tpu_audit.trace import isolate
from tpu_audit.types.errors import UsageError
from tpu_audit.types.report import Severity, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.fakehub import FakeHub
    from tpu_audit.types.report import CodeCheck, ModelReport, Report

Scan = "Callable[..., Report]"
OLD = "quarry/sandstone-7b-chat"


@pytest.fixture(name="run")
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    """Scan one target with the stand-in for the tracer and a cache of its own."""
    monkeypatch.setattr(isolate, "trace_isolated", trace_native_alone)

    def run(name: str | Path, **options: Any) -> Report:
        return scan([str(name)], options=ScanOptions(cache_dir=tmp_path / "cache", **options))

    return run


def only(report: Report) -> tuple[ModelReport, CodeCheck]:
    """Return the one model of a report and what was read of its code."""
    (model,) = report.models
    assert model.code is not None
    return model, model.code


def unread(report: Report) -> list[tuple[str, str]]:
    """Return path and code of what could not be read."""
    return [(row.path, row.code) for row in only(report)[1].unread]


@pytest.mark.parametrize("repository", REPOSITORIES)
def test_every_finding_has_its_place(run: Callable[..., Report], repository: str) -> None:
    """Path, line, column, code and severity are those of the reviewed table, no more, no less."""
    report = run(FOLDER / repository, offline=True)
    rows = expected(repository)
    assert found(report.findings) == [(r.path, r.line, r.column, r.code, r.severity) for r in rows]
    for row in rows:
        lines = (FOLDER / repository / row.path).read_text("utf-8").splitlines()
        assert lines[row.line - 1][row.column - 1 :].startswith(row.text)
    files = [finding for finding in report.findings if finding.phase is None]
    assert {finding.model for finding in files} <= {str(FOLDER / repository)}
    assert all(finding.message and finding.fix for finding in files)


@pytest.mark.parametrize("repository", REPOSITORIES)
def test_the_hub_and_a_folder_give_the_same(
    run: Callable[..., Report], hub: FakeHub, repository: str
) -> None:
    """Code that is fetched is judged as code on disk; paths are those in the repository."""
    serve(hub, repository)
    report = run(repository)
    rows = [(r.path, r.line, r.column, r.code, r.severity) for r in expected(repository)]
    assert found(report.findings) == rows
    assert only(report)[0].config_source == f"hub@{hub.commit(repository)}"


def test_only_what_is_read_is_fetched(run: Callable[..., Report], hub: FakeHub) -> None:
    """One request a file, and none for weights, tokenizers and vocabularies."""
    serve(hub, OLD)
    report = run(OLD)
    there = {path.name for path in (FOLDER / OLD).iterdir()}
    left = {"model.safetensors", "tokenizer.json", "sandstone.tiktoken"}
    assert left < there
    assert hub.fetched() == sorted(there - left)
    assert only(report)[1].files == {"json": 2, "python": 5, "requirements": 1}


@pytest.mark.parametrize(
    ("repository", "status", "verdict"),
    [
        (OLD, "skipped", Verdict.BLOCKED),
        ("northwind/flashberry-large", "skipped", Verdict.BLOCKED),
        ("orchard/many-files", "skipped", Verdict.BLOCKED),
        ("tidal-lab/kelp-triton-1b", "skipped", Verdict.UNKNOWN),
        ("orchard/plain-gpt", "skipped", Verdict.UNKNOWN),
        ("shoal/guarded-ssm", "skipped", Verdict.UNKNOWN),
        ("pier/tiny-bert-remote", "traced", Verdict.READY_WITH_WARNINGS),
        ("pier/pair-pipeline", "traced", Verdict.READY_WITH_WARNINGS),
        ("pier/sentence-st", "traced", Verdict.READY_WITH_WARNINGS),
    ],
)
def test_verdicts(
    run: Callable[..., Report], repository: str, status: str, verdict: Verdict
) -> None:
    """An error that loading or forward meets blocks; nothing makes an untraced model ready."""
    report = run(FOLDER / repository, offline=True)
    (phase,) = only(report)[0].phases
    assert (phase.status, phase.verdict) == (Status(status), verdict)
    errors = any(finding.severity is Severity.ERROR for finding in report.findings)
    assert errors is (verdict is Verdict.BLOCKED)


@pytest.mark.parametrize(
    ("repository", "strict", "allowed"),
    [
        (OLD, 3, 1),
        ("orchard/plain-gpt", 3, 0),
        ("tidal-lab/kelp-triton-1b", 3, 0),
        ("pier/tiny-bert-remote", 0, 0),
    ],
)
def test_exit_codes(run: Callable[..., Report], repository: str, strict: int, allowed: int) -> None:
    """Ops that were not audited outrank findings; with that allowed, errors in files fail."""
    report = run(FOLDER / repository, offline=True)
    assert exit_code(report, Gate(fail_on="error")) == strict
    assert exit_code(report, Gate(fail_on="error", allow_incomplete=True)) == allowed
    assert exit_code(report, Gate(fail_on="never", allow_incomplete=True)) == 0


def test_the_clean_one_is_clean(run: Callable[..., Report]) -> None:
    """Code that goes wherever its inputs are has no finding of any severity."""
    report = run(FOLDER / "orchard/plain-gpt", offline=True)
    assert report.findings == ()
    code = only(report)[1]
    assert (code.unread, code.suppressed, code.runs) == ((), 0, True)
    assert code.files == {"json": 1, "python": 2}


def test_what_loading_reads(run: Callable[..., Report]) -> None:
    """Files are followed through relative imports, into folders and out of them again."""
    code = only(run(FOLDER / "orchard/many-files", offline=True))[1]
    layers = ("layers/__init__.py", "layers/block.py", "layers/rope.py")
    assert code.loaded == ("config.py", *layers, "model.py", "ops.py")


def test_python_2(run: Callable[..., Report]) -> None:
    """A file that is no Python 3 is a record with its line; what it imports is judged as run."""
    report = run(FOLDER / "attic/py2-lm", offline=True)
    (record,) = only(report)[1].unread
    assert (record.path, record.line) == ("modeling_attic.py", 8)
    assert "not valid Python 3" in record.reason
    assert [f.location.path for f in report.findings] == ["layers_attic.py"]


_VAULT = """
import sys
from pathlib import Path
from tpu_audit import ScanOptions, scan
report = scan([sys.argv[1]], options=ScanOptions(cache_dir=Path(sys.argv[2])))
(phase,) = report.models[0].phases
print(phase.reason_code, phase.verdict.value, len(report.findings))
print(sorted(name for name in sys.modules if "vault" in name))
"""


def test_nothing_is_run(hub: FakeHub, tmp_path: Path) -> None:
    """A real scan, tracing process included, of files that would leave one behind on import."""
    serve(hub, "vault/side-effects")
    mark, modules = tmp_path / "was-run", tmp_path / "modules"
    homes = {"HF_HOME": str(tmp_path / "hf"), "HF_MODULES_CACHE": str(modules)}
    done = subprocess.run(
        [sys.executable, "-c", _VAULT, "vault/side-effects", str(tmp_path / "cache")],
        env={**os.environ, **homes, "VAULT_WAS_RUN": str(mark), "HF_ENDPOINT": hub.url},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["remote_code blocked 2", "[]"]
    assert not mark.exists()
    assert not [path for path in tmp_path.rglob("*.py*") if "modules" in path.parts]


def test_it_can_be_left_out(run: Callable[..., Report]) -> None:
    """Without the check there is nothing of it in the report, and no verdict rests on it."""
    report = run(FOLDER / OLD, offline=True, check_code=False)
    (model,) = report.models
    assert (model.code, report.findings, model.phases[0].verdict) == (None, (), Verdict.UNKNOWN)


def test_rules_can_be_left_out(run: Callable[..., Report]) -> None:
    """Ignored rules find nothing, in a first scan and in one from the cache."""
    for _ in range(2):
        report = run(FOLDER / OLD, offline=True, ignore=("TPA1", "cuda-quantization"))
        assert not [f for f in report.findings if f.code.startswith("TPA1")]
        assert only(report)[0].phases[0].verdict is Verdict.UNKNOWN
    assert found(run(FOLDER / OLD, offline=True).findings) != found(report.findings)


def test_a_rule_that_is_none(run: Callable[..., Report]) -> None:
    """A wrong rule to ignore is refused before any target is looked at."""
    with pytest.raises(UsageError, match="TPA999"):
        run("org/name", offline=True, ignore=("TPA999",))


def test_the_second_scan_checks_nothing(
    run: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results are remembered by content; ``use_cache`` False makes them anew."""
    first = run(FOLDER / OLD, offline=True)
    checked: list[int] = []
    real = pool.check_files

    def count(jobs: Any, *args: Any, **kw: Any) -> Any:
        checked.append(len(jobs))
        return real(jobs, *args, **kw)

    monkeypatch.setattr(pool, "check_files", count)
    assert run(FOLDER / OLD, offline=True).findings == first.findings
    assert checked == []
    assert run(FOLDER / OLD, offline=True, use_cache=False).findings == first.findings
    assert checked == [8]


def test_a_changed_file_is_checked_again(run: Callable[..., Report], tmp_path: Path) -> None:
    """The content decides, not the name: a repaired file has no finding."""
    folder = local_copy("attic/py2-lm", tmp_path)
    assert run(folder, offline=True).findings
    path = folder / "layers_attic.py"
    path.write_text(path.read_text().replace("x.cuda()", "x"))
    assert run(folder, offline=True).findings == ()


def test_offline_after_online(run: Callable[..., Report], hub: FakeHub) -> None:
    """What was fetched once is found again without the hub."""
    serve(hub, OLD)
    first = run(OLD)
    hub.stop()
    again = run(OLD, offline=True, use_cache=False)
    assert found(again.findings) == found(first.findings)
    assert (only(again)[0].config_source or "").startswith("cache@")


def test_offline_and_never_seen(run: Callable[..., Report], hub: FakeHub) -> None:
    """Without a copy nothing is checked, and the hub is not asked."""
    serve(hub, OLD)
    (model,) = run(OLD, offline=True).models
    assert (model.code, model.phases[0].reason_code) == (None, "offline_not_cached")
    assert hub.requests == []


def test_gated(run: Callable[..., Report], hub: FakeHub) -> None:
    """Of a gated repository no code is asked for."""
    serve(hub, OLD)
    hub.gated.add(OLD)
    (model,) = run(OLD).models
    assert (model.code, model.phases[0].reason_code) == (None, "gated")
    assert not [r.path for r in hub.requests if r.path.endswith(".py")]


def test_a_file_that_the_hub_does_not_give(run: Callable[..., Report], hub: FakeHub) -> None:
    """A listed file that is gone is a record; the others have their findings."""
    serve(hub, OLD)
    gone = {"X-Error-Code": "EntryNotFound"}
    hub.faults.append(Fault(match="modeling_sandstone.py", times=9, status=404, headers=gone))
    report = run(OLD)
    (record,) = only(report)[1].unread
    assert (record.path, record.code) == ("modeling_sandstone.py", "not_fetched")
    assert "404" in record.reason
    assert {f.location.path for f in report.findings} == {"cli_demo.py", "requirements.txt"}


def test_files_that_the_config_names_in_vain(run: Callable[..., Report], tmp_path: Path) -> None:
    """A file that is not there, and one of another repository, are records."""
    (tmp_path / "config.json").write_text(
        '{"architectures": ["XModel"], "model_type": "x", "auto_map": '
        '{"AutoModel": "org/other--modeling_y.YModel", "AutoConfig": "configuration_x.XConfig"}}'
    )
    report = run(tmp_path, offline=True)
    assert unread(report) == [("configuration_x.py", "missing"), ("org/other", "elsewhere")]


@pytest.mark.parametrize("from_hub", [True, False])
def test_a_huge_file(
    run: Callable[..., Report], hub: FakeHub, tmp_path: Path, from_hub: bool
) -> None:
    """A file over the limit is neither fetched nor read, and the report says so."""
    serve(hub, "pier/tiny-bert-remote")
    folder = local_copy("pier/tiny-bert-remote", tmp_path)
    for place in (folder, hub.root / "pier/tiny-bert-remote"):
        (place / "data.py").write_text("x = [\n" + "0,\n" * 400_000 + "]\n")
    model, code = only(run("pier/tiny-bert-remote" if from_hub else folder, offline=not from_hub))
    assert [note for note in model.notes if note.startswith("data.py was not read")]
    assert code.files["python"] == 1
    assert "data.py" not in hub.fetched()


def test_files_that_are_no_text(run: Callable[..., Report], tmp_path: Path) -> None:
    """Another encoding, null bytes and a config of too many levels are records each."""
    folder = local_copy("attic/py2-lm", tmp_path)
    (folder / "layers_attic.py").write_bytes("x.cuda()  # gr\xfc\xdfe\n".encode("latin-1"))
    (folder / "configuration_attic.py").write_bytes(b"x = 1\x00\nx.cuda()\n")
    (folder / "train.yaml").write_text("a: [" * 5000 + "cuda")
    report = run(folder, offline=True)
    paths = [path for path, _ in unread(report)]
    names = ["configuration_attic.py", "layers_attic.py", "modeling_attic.py", "train.yaml"]
    assert paths == names


def test_the_worst_come_first(run: Callable[..., Report]) -> None:
    """Findings in files stand in the report by severity, then by place."""
    order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    ranks = [order[f.severity] for f in run(FOLDER / OLD, offline=True).findings]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 3


def test_comments_silence(run: Callable[..., Report], tmp_path: Path) -> None:
    """An ignore comment is heard and counted."""
    folder = local_copy("pier/tiny-bert-remote", tmp_path)
    path = folder / "modeling_bert.py"
    comment = "  # tpu-audit: ignore[TPA103] the GPU cluster's\n"
    path.write_text(
        path.read_text().replace("non_blocking=True)\n", f"non_blocking=True){comment}")
    )
    report = run(folder, offline=True)
    assert [line for _, line, *_ in found(report.findings)] == [12]
    assert only(report)[1].suppressed == 1


def test_the_catalogue_has_configs_alone(run: Callable[..., Report]) -> None:
    """The built-in config is checked as the model's own would be; there is no code to check."""
    report = run("deepseek-ai/DeepSeek-V3", offline=True)
    model, code = only(report)
    assert model.config_source == "catalogue"
    assert set(code.files) == {"json"}
    (quantised,) = [f for f in report.findings if f.code == "TPA702"]
    assert quantised.location.path == "config.json"
    assert quantised.location.line is not None


def test_a_quantised_checkpoint_is_told_once(run: Callable[..., Report], tmp_path: Path) -> None:
    """The line of the config says what becomes of it; that the trace is of another adds nothing."""
    quantised = '"quantization_config": {"quant_method": "gptq"},\n "architectures"'
    (tmp_path / "config.json").write_text(BERT.replace('"architectures"', quantised, 1))
    report = run(tmp_path, offline=True)
    assert [f.code for f in report.findings] == ["TPA702"]
    assert only(report)[0].phases[0].verdict is Verdict.BLOCKED
    without = run(tmp_path, offline=True, check_code=False)
    assert [f.code for f in without.findings] == ["TPA921"]


def test_a_fault_of_the_check_costs_no_audit(
    run: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should the check itself break, the ops are audited and a note says what is missing."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(target, "check_code", broken)
    report = run(FOLDER / "pier/tiny-bert-remote", offline=True)
    assert report.models[0].phases[0].verdict is Verdict.READY
    assert any("was not checked: ZeroDivisionError: by zero" in note for note in report.notes)


def test_a_program_of_the_user_is_not_a_repository(run: Callable[..., Report]) -> None:
    """A function that is run has no code to be read instead."""
    path = Path(__file__).parents[1] / "data" / "own" / "programs.py"
    (model,) = run(f"{path}:step", offline=True).models
    assert model.code is None
