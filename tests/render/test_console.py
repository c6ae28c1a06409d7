"""The console report: what it says, how it fits, that nobody can write through it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

import pytest

from op_registry.schema import Evidence, EvidenceKind
from tests.support.reports import failed_phase, missing_finding, model, op_row, phase, report
from tpu_audit.render.formats import renderer
from tpu_audit.render.interface import View
from tpu_audit.types.report import (
    CodeCheck,
    Finding,
    Location,
    Report,
    Severity,
    Status,
    Unread,
    Verdict,
)

HOSTILE = "[bold red]x[/] \x1b[2J\x1b]0;title\x07 \u202e"

GOLDEN = """\
bert-base-uncased  forward bfloat16  BLOCKED
  config     hub@86b5e0934494bd15c9632b12f734a8a67f723594 (google-bert/bert-base-uncased, redirected
             from bert-base-uncased)
  model      BertForMaskedLM (bert, transformers), 109,514,298 parameters
  traced     batch 1 x 128 tokens, pretended device
  judged     for v6e by torch-tpu 0.2.0 for torch 2.13.0

  on the TPU   calls          FLOPs           bytes
  native          49  80.3%  7.25 G  100%  72.0 MiB  94.1%
  missing         12  19.7%       ?    0%  4.50 MiB   5.9%
  ! host_sync      1   1.6%       0    0%       1 B  <0.1%
  FLOPs of 12 calls are not known and count as none.

Findings: 1 error, 1 warning
  TPA901     error: aten.mish.default: no TPU kernel (12 calls)
    where    bert.encoder.layer.[0-11].attention.self.query at
             transformers/models/bert/modeling_bert.py:171
    fix      x * torch.tanh(F.softplus(x))
  TPA904     warning: aten._local_scalar_dense.default: blocks on the host (1 call)
    where    bert at transformers/models/bert/modeling_bert.py:640
    fix      keep the value on the device

Not checked
  phases     anything but forward; weights, speed, numerics
  evidence   49 of 61 calls rest on registration alone
  guesses    1 call needed a value that only weights could give; guessed
  CPU        2 calls on CPU tensors are not TPU calls
  assumed    1 assumption: -v lists them

Next: tpu-audit explain aten.mish.default
"""


def render(value: Report, **view: Any) -> str:
    """Render for a terminal of 100 columns without colour, or as ``view`` says."""
    return renderer("console").render(value, View(**view))


def test_golden() -> None:
    """The whole report of one blocked model, word for word."""
    assert render(report()) == GOLDEN


@pytest.mark.parametrize("width", [80, 100])
def test_fits_a_screen(width: int) -> None:
    """Six causes with long sentences stay within the width and within 40 lines."""
    findings = [
        missing_finding(code=f"TPA9{index:02}", message=f"{'long ' * 20}{index}", fix="fix " * 30)
        for index in range(8)
    ]
    lines = render(report(findings=findings), width=width).splitlines()

    assert max(map(len, lines)) <= width
    assert len(render(report(), width=width).splitlines()) <= 40
    assert any("and 3 more causes: -v shows them all" in line for line in lines)


def test_what_judged_and_what_it_rests_on() -> None:
    """Chip and installed kernels are named; random calls are told apart from unproven ones."""
    rows = (op_row(), op_row("aten.rand.default", count=5, random=True))
    made = phase(rows, chip="v5e", reference_kernels=True)
    text = render(report([model(phases=(made,))]))

    assert "judged     for v5e by torch-tpu 0.2.0 for torch 2.13.0, with its reference" in text
    assert "48 of 53 calls rest on registration alone; 5 draw random numbers" in text


def test_nothing_is_said_of_no_calls() -> None:
    """Where every call is proven there is no line on evidence; random calls alone have one."""
    lowered = Evidence(kind=EvidenceKind.LOWERED, detail="8/8 samples at bfloat16")
    proven = op_row(evidence=(lowered, *op_row().evidence))
    drawn = op_row("aten.rand.default", count=5, random=True)

    assert "evidence" not in render(report([model(phases=(phase((proven,)),))]))
    text = render(report([model(phases=(phase((proven, drawn)),))]))
    assert "evidence   5 of 53 calls draw random numbers\n" in text


def test_catalogue_is_loud() -> None:
    """A built-in config is never mistaken for the model's own."""
    text = render(report([model(config_source="catalogue")]))

    assert "CATALOGUE: tpu-audit's built-in copy, not this model's repository" in text


def test_next_command_is_quoted() -> None:
    """A target that a shell would run is quoted in the command to copy."""
    ready = phase([op_row()], verdict=Verdict.READY)
    text = render(report([model(target="a; rm -rf x", phases=(ready,))], findings=[]))

    assert "Next: tpu-audit scan 'a; rm -rf x' --dtype" in text


def test_failure_says_stage_and_reason() -> None:
    """A target that was not audited says where it stopped and why, and offers the doctor."""
    text = render(report([model(target="x/y", phases=(failed_phase(),))], findings=[]))

    assert "x/y  forward bfloat16  NOT AUDITED (failed)" in text
    assert "failed at resolve (gated): the repository is gated; accept its licence" in text
    assert "Next: tpu-audit doctor" in text
    assert "Findings" not in text


def test_wrong_target_needs_no_doctor() -> None:
    """Where only the target is wrong, the next command is the help."""
    text = render(report([model(phases=(failed_phase("not_found"),))], findings=[]))

    assert "Next: tpu-audit scan --help" in text


def test_many_models() -> None:
    """Each model has its line; the totals count every model once, the worst phase deciding."""
    models = [
        model(),
        model(target="b", id="b", phases=(phase([op_row()], verdict=Verdict.READY),)),
        model(target="c", id="c", phases=(failed_phase(), phase(dtype="float32"))),
    ]
    text = render(report(models))
    lines = text.splitlines()

    first = next(line for line in lines if line.startswith("  bert-base-uncased"))
    assert first.split() == [
        *("bert-base-uncased", "forward", "bfloat16", "blocked", "1", "1", "80.3%", "100%")
    ]
    assert "Summary: 3 models: 1 blocked, 1 not audited, 1 ready" in text
    assert "TPA901     error: aten.mish.default: no TPU kernel (12 calls, 1 model)" in text


def file_finding(**changes: Any) -> Finding:
    """Return a finding at a line of a model's own code."""
    values: dict[str, Any] = {
        "code": "TPA103",
        "message": "`.cuda()` raises on a TPU",
        "fix": "write `.to(device)`",
        "phase": None,
        "dtype": None,
        "op": None,
        "location": Location(path="modeling_x.py", line=7, column=19),
        "count": 1,
        "bytes": 0,
        "modules": (),
        "sources": (),
    }
    return missing_finding(**{**values, **changes})


def test_findings_in_files_are_grouped_by_cause() -> None:
    """One cause in two files is told once, with the lines of each, counted as places."""
    lines = [("modeling_x.py", n) for n in range(1, 13)] + [("layers.py", 3)]
    findings = [
        file_finding(
            message=f"`{path}` {line} raises", cause="c", location=Location(path=path, line=line)
        )
        for path, line in lines
    ]
    text = " ".join(render(report(findings=findings)).split())

    assert "TPA103 error: `modeling_x.py` 1 raises (13 places) where" in text
    assert "where modeling_x.py:1,2,3,4,5,6,7,8... (4 more), layers.py:3 fix" in text
    assert "modeling_x.py:1,2,3,4,5,6,7,8,9,10,11,12, layers.py:3" in " ".join(
        render(report(findings=findings), verbosity=1).split()
    )


def test_files_of_several_models_say_whose_they_are() -> None:
    """Among many models a place begins with the model; each row counts its own findings."""
    skipped = failed_phase("remote_code", status=Status.SKIPPED, verdict=Verdict.BLOCKED)
    models = [
        model(target=name, id=name, phases=(skipped,), code=CodeCheck(files={"python": 1}))
        for name in ("org/a", "org/b")
    ]
    findings = [file_finding(model="org/a"), file_finding(model="org/b", severity=Severity.INFO)]
    text = render(report(models, findings))
    rows = [line.split() for line in text.splitlines() if line.startswith("  org/")]

    assert "org/a/modeling_x.py:7" in text
    assert "org/b/modeling_x.py:7" in text
    assert [" ".join(row) for row in rows[:2]] == [
        "org/a forward bfloat16 blocked by its files 1 0 - -",
        "org/b forward bfloat16 blocked by its files 0 0 - -",
    ]
    assert "Summary: 2 models: 2 blocked by its files" in text


def test_what_was_read_of_the_code() -> None:
    """How many files, which run, what was left out and why; findings stand without a trace."""
    unread = (
        *(Unread(path=f"{n}.py", code="missing", reason="not at hand") for n in range(5)),
        Unread(path="old.py", line=3, code="unreadable", reason="not valid Python 3"),
    )
    code = CodeCheck(
        files={"json": 2, "python": 3}, loaded=("a.py",), runs=True, suppressed=2, unread=unread
    )
    skipped = failed_phase("remote_code", status=Status.SKIPPED, verdict=Verdict.BLOCKED)
    shown = model(target="x/y", id="x/y", phases=(skipped,), code=code)
    text = render(report([shown], [file_finding(model="x/y")]))

    assert "x/y  forward bfloat16  BLOCKED BY ITS FILES (ops not audited: skipped)" in text
    assert (
        "code       3 Python files and 2 other files checked, none run; 1 makes the model" in text
    )
    assert "ignored    2 findings, by comments in the files" in text
    assert "not read   0.py, 1.py, 2.py and 2 more: not at hand" in text
    assert "not read   old.py:3: not valid Python 3" in text
    assert "Findings: 1 error" in text
    assert "Not checked" not in text
    assert "Next: tpu-audit explain TPA103" in text


def test_configs_alone_are_not_worth_a_line() -> None:
    """A model without code of its own looks as it did before its config was checked."""
    plain = render(report())

    assert render(report([model(code=CodeCheck(files={"json": 1}))])) == plain
    asked = CodeCheck(files={"json": 1, "python": 2}, loaded=("a.py", "b.py"))
    text = " ".join(render(report([model(code=asked)])).split())
    assert "2 make the model with `trust_remote_code=True`" in text
    aside = CodeCheck(files={"python": 1})
    assert "1 Python file checked, none run; none is the model's" in render(
        report([model(code=aside)])
    )


def test_quiet_and_verbose() -> None:
    """Quiet leaves the verdict lines; verbose lists assumptions and informational fixes."""
    info = missing_finding(severity=Severity.INFO, fix="nothing to do")

    assert render(report(), verbosity=-1) == "bert-base-uncased forward bfloat16 BLOCKED\n"
    assert "nothing to do" not in render(report(findings=[info]))
    assert "nothing to do" in render(report(findings=[info]), verbosity=1)
    assert "assumed    input_ids are token ids 5, 6, 7..." in render(report(), verbosity=1)


def test_skipped_phase_is_no_zero() -> None:
    """A skipped phase has dashes where numbers would be."""
    skipped = failed_phase("gguf_only", status=Status.SKIPPED)
    text = render(report([model(), model(target="g", id="g", phases=(skipped,))]))

    line = next(line for line in text.splitlines() if line.startswith("  g "))
    assert line.split() == ["g", "forward", "bfloat16", "not", "audited", "-", "-", "-", "-"]


def test_colour_only_when_asked() -> None:
    """Escape sequences appear with colour, and only then."""
    assert "\x1b[" not in render(report())
    assert "\x1b[1;31mBLOCKED" in render(report(), color=True)


def test_own_words_are_ascii() -> None:
    """Nothing that the tool says itself needs more than ASCII."""
    assert render(report(), verbosity=1).isascii()


def poisoned(value: Any) -> Any:
    """Return ``value`` with hostile text in every string."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return HOSTILE + value
    if isinstance(value, tuple):
        return tuple(poisoned(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        return replace(value, **{name: poisoned(getattr(value, name)) for name in names})
    return value


@pytest.mark.parametrize("verbosity", [-1, 0, 1])
@pytest.mark.parametrize("count", [1, 2])
def test_hostile_text_is_harmless(count: int, verbosity: int) -> None:
    """No string of a config or a hub answer can reach the terminal as an escape or as markup."""
    bad = poisoned(report([model(notes=("a note",), phases=(phase(), failed_phase()))] * count))

    text = render(bad, verbosity=verbosity)

    assert "[bold red]x[/]" in text
    assert not set(text) & {"\x1b", "\x07", "\u202e"}
