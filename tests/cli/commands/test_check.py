"""``tpu-audit check``: exit codes, outputs, settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command_line import fresh
from tests.support.trees import CLEAN, HIT, tree

if TYPE_CHECKING:
    from tests.support.command_line import CommandLine

WARNING = 'import torch\nd = "cuda" if torch.cuda.is_available() else "cpu"\n'


@pytest.mark.parametrize(
    ("text", "args", "code"),
    [
        (HIT, [], 1),
        (HIT, ["--exit-zero"], 0),
        (HIT, ["--fail-on", "never"], 0),
        (HIT, ["--ignore", "TPA1"], 0),
        (WARNING, [], 0),
        (WARNING, ["--fail-on", "warning"], 1),
        (CLEAN, ["--fail-on", "info"], 0),
        (HIT, ["--select", "TPA9999"], 2),
        (HIT, ["--diff", "main"], 2),
        (HIT, ["absent.py"], 2),
        (HIT, ["--per-file-ignores", "a.py:TPA103"], 0),
        (HIT, ["--min-severity", "huge"], 2),
    ],
)
def test_exit_codes(tpu_audit: CommandLine, text: str, args: list[str], code: int) -> None:
    """0 clean, 1 findings at or above --fail-on, 2 for what is wrong with the call."""
    tree(tpu_audit.folder, {"a.py": text})
    ran = tpu_audit("check", ".", *args)

    assert (ran.code, "Traceback" in ran.err) == (code, False)
    assert (ran.err.startswith("error: ")) == (code == 2)


def test_exit_zero_says_what_it_hides(tpu_audit: CommandLine) -> None:
    """--exit-zero warns only where there is something that the exit code hides."""
    tree(tpu_audit.folder, {"a.py": HIT, "b.py": CLEAN})

    warned = tpu_audit("check", "a.py", "--exit-zero").err
    assert warned == "warning: --exit-zero: the exit code hides 1 finding\n"
    assert tpu_audit("check", "b.py", "--exit-zero").err == ""


def test_first_screen(tpu_audit: CommandLine) -> None:
    """The report says what to do first and what to run next."""
    tree(tpu_audit.folder, {"a.py": HIT})
    ran = tpu_audit("check", ".")

    assert "Do first\n  TPA103     error: `.cuda()` raises on a TPU" in ran.out
    assert "Next: tpu-audit fix .   (shows 1 safe repair; --write makes them)" in ran.out
    assert ran.err == ""


def test_formats_and_outputs(tpu_audit: CommandLine) -> None:
    """One run gives lines on stdout and JSON in a file."""
    tree(tpu_audit.folder, {"a.py": HIT})
    ran = tpu_audit("check", "a.py", "-f", "concise", "-o", "json=report.json")
    report = json.loads((tpu_audit.folder / "report.json").read_text())

    assert ran.out.startswith("a.py:2:19: TPA103 ")
    assert [found["code"] for found in report["findings"]] == ["TPA103"]
    assert report["causes"][0]["places"] == ["a.py:2:19"]


def test_settings_file(tpu_audit: CommandLine) -> None:
    """Rules stand at the top for check and fix alike, the check's own settings in its table."""
    text = (
        '[tool.tpu-audit]\nselect = ["TPA1"]\nexclude = ["b.py"]\n'
        '[tool.tpu-audit.per-file-ignores]\n"c*.py" = ["TPA103"]\n'
        '[tool.tpu-audit.check]\nformat = "concise"\nfail-on = "never"\n'
    )
    tree(tpu_audit.folder, {"pyproject.toml": text, "a.py": HIT, "b.py": HIT, "c.py": HIT})
    ran = tpu_audit("check", ".")

    assert ran.code == 0
    assert [line.partition(":")[0] for line in ran.out.splitlines()] == ["a.py"]
    assert tpu_audit("fix", ".").out.count("+++") == 1
    assert tpu_audit("check", ".", "--select", "TPA2").out == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("select = 'TPA1'", "select = 'TPA1': must be a list of strings"),
        ("per-file-ignores = ['a:b']", "must be a table of lists of strings"),
        ("[check]\nslect = 'x'", "unknown setting 'check.slect'"),
        ("select = ['TPA999']", "no rule has the code, prefix or name 'TPA999'"),
    ],
)
def test_bad_settings(tpu_audit: CommandLine, text: str, says: str) -> None:
    """A wrong setting is refused with its name and what would be right."""
    tree(tpu_audit.folder, {"tpu-audit.toml": text, "a.py": CLEAN})
    ran = tpu_audit("check", ".")

    assert ran.code == 2
    assert says in ran.err


def test_suppressed(tpu_audit: CommandLine) -> None:
    """What a comment silences is counted, and listed on request with its reason."""
    silent = HIT.replace("cuda()", "cuda()  # tpu-audit: ignore[TPA103] the old cluster")
    tree(tpu_audit.folder, {"a.py": silent})

    assert "ignored    1 by comment (--show-suppressed lists them)" in tpu_audit("check", ".").out
    assert "[comment: the old cluster]" in tpu_audit("check", ".", "--show-suppressed").out


def test_light(tpu_audit: CommandLine) -> None:
    """Checking and repairing import neither torch nor anything of the scan's."""
    tree(tpu_audit.folder, {"a.py": HIT, "b.yaml": "device: cuda\n"})
    for command in (["check", "."], ["fix", "."]):
        ran = fresh(command, cwd=tpu_audit.folder, flags=("-X", "importtime"))
        imported = {line.rpartition("|")[2].strip() for line in ran.err.splitlines()}

        assert ran.code == 1
        assert not imported & {"torch", "transformers", "huggingface_hub", "numpy"}
