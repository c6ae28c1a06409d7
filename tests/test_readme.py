"""README.md tells the truth."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest

from tests.support.readme import README, mentioned, output_of, sessions
from tests.support.wheel import PYTHON, needs_wheel
from tpu_audit.cli.root import root
from tpu_audit.trace.oracle import CHILD_ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path

TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize(("command", "output"), sessions(TEXT), ids=lambda text: text[:40])
def test_shown_output_is_real(command: str, output: str) -> None:
    """Each command shown with output prints exactly that."""
    assert output_of(command) == output


def options_of(command: click.Command, context: click.Context) -> set[str]:
    """All spellings of all options of a command."""
    return {o for p in command.get_params(context) for o in (*p.opts, *p.secondary_opts)}


@pytest.mark.parametrize("words", mentioned(TEXT), ids=" ".join)
def test_every_command_and_flag_exists(words: list[str]) -> None:
    """Each command and option that the README names is one of the command line's."""
    command: click.Command = root
    context = click.Context(root)
    known = options_of(root, context)
    for word in words[1:]:
        if word.startswith("-"):
            assert word.partition("=")[0] in known, word
        elif isinstance(command, click.Group) and word.islower():
            found = command.get_command(context, word)
            assert found is not None, f"no command {word}"
            command = found
            known |= options_of(command, context)


def test_links_inside_the_repository_work() -> None:
    """Each relative link of the README leads to a file."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)

    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []


def _python() -> list[str]:
    return re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@needs_wheel
def test_the_install_example_runs_where_the_wheel_is() -> None:
    """The line that installs the reference kernels works as it stands."""
    (code,) = (code for code in _python() if "reference.install()" in code)
    done = subprocess.run(
        [str(PYTHON), "-c", f"{code}\nprint(len(op_registry.reference.install(dry_run=True)))"],
        env={**os.environ, **CHILD_ENVIRONMENT, "PYTHONPATH": str(README.parent)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout.split()[-1]) > 100


def test_the_python_example_runs(tmp_path: Path) -> None:
    """The API example prints a verdict, without a network."""
    code = next(code for code in _python() if "tpu_audit" in code)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": "", "HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "PYTHONPATH": "."},
        cwd=README.parent,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert re.search(r"google-bert/bert-base-uncased forward bfloat16 \w+", done.stdout)
