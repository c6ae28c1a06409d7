"""The commands that README.md shows, and their output.

``python -m tests.support.readme --update`` runs every ``$ tpu-audit ...`` of the README and writes
what it prints into it; the tests do the same and compare.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
_SESSION = re.compile(r"(?<=```console\n)\$ (?P<command>.*)\n(?P<output>(?:(?!```).*\n)*)")
_MENTION = re.compile(r"`(tpu-audit [^`]*)`")
_BLOCK = re.compile(r"```bash\n(.*?)```", re.DOTALL)


def sessions(text: str) -> list[tuple[str, str]]:
    """Return the commands shown with their output."""
    return [(m["command"], m["output"]) for m in _SESSION.finditer(text)]


def mentioned(text: str) -> list[list[str]]:
    """Return every ``tpu-audit`` command line in the text, shown or named, as its words."""
    lines = [m["command"] for m in _SESSION.finditer(text)]
    lines += [" ".join(found.split()) for found in _MENTION.findall(text)]
    for block in _BLOCK.findall(text):
        lines += re.split(r"\n|&&", block)
    words = [shlex.split(line, comments=True) for line in lines]
    return [line for line in words if line and line[0] == "tpu-audit"]


def output_of(command: str) -> str:
    """Run a ``tpu-audit`` command as a person without a network would; return its stdout."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tpu_audit", *shlex.split(command)[1:]],
            env={
                **os.environ,
                "TPU_AUDIT_CACHE_DIR": f"{folder}/cache",
                "HF_HOME": f"{folder}/hub",
                "COLUMNS": "100",
                "NO_COLOR": "1",
            },
            capture_output=True,
            text=True,
            check=True,
        )
    return done.stdout


def updated(text: str) -> str:
    """Return the text with the output of every shown command made anew."""
    return _SESSION.sub(lambda m: f"$ {m['command']}\n{output_of(m['command'])}", text)


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit("usage: python -m tests.support.readme --update")
    README.write_text(updated(README.read_text(encoding="utf-8")), encoding="utf-8")
