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
from tpu_audit.types.report import Report, Severity, Status, Verdict

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
