"""Completion scripts, and that they complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command_line import CommandLine, fresh

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script(tpu_audit: CommandLine, shell: str) -> None:
    """Each script completes ``tpu-audit`` by asking it."""
    ran = tpu_audit("completion", shell)

    assert (ran.code, ran.err) == (0, "")
    assert f"_TPU_AUDIT_COMPLETE={shell}_complete" in ran.out


def test_powershell(tpu_audit: CommandLine) -> None:
    """PowerShell works where click knows it, and says so where not."""
    ran = tpu_audit("completion", "powershell")

    assert (ran.code == 0 and "_TPU_AUDIT_COMPLETE" in ran.out) or "no completion" in ran.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tpu-audit sc", "scan"),
        ("tpu-audit registry s", "show"),
        ("tpu-audit scan --fail-on w", "warning"),
        ("tpu-audit scan --dtype bf", "bfloat16"),
        ("tpu-audit scan --chip tp", "tpu7x"),
    ],
)
def test_completes(tmp_path: Path, words: str, expected: str) -> None:
    """Commands, subcommands and values are offered."""
    env = {
        "_TPU_AUDIT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    ran = fresh([], cwd=tmp_path, env=env)

    assert f"plain,{expected}" in ran.out.split()
