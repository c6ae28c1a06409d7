"""Comments between the lines of a Dockerfile's instructions."""

from __future__ import annotations

import pytest

from tpu_audit.rules.files.dockerfile_reader import read
from tpu_audit.rules.text import SourceText


@pytest.mark.parametrize(
    "text",
    [
        "RUN pip install \\\n    # pinned\n    torch numpy\n",
        'RUN pip install \\\n# a\n    # b\n    torch numpy\nCMD ["ls"]\n',
        "# syntax\nRUN <<EOF\n# why\npip install torch numpy\n# end\nEOF\nUSER app\n",
    ],
)
def test_comments_do_not_end_a_command(text: str) -> None:
    """A command goes on behind a comment, and the comment is none of its words."""
    document = read("Dockerfile", SourceText(text))
    words = [[word.text for word in command.words] for command in document.commands]
    assert ["pip", "install", "torch", "numpy"] in words
    assert {item.name for item in document.requirements} == {"torch", "numpy"}


def test_instructions_behind_a_comment_are_read() -> None:
    """A comment line joins no instruction to the one below it."""
    document = read("Dockerfile", SourceText("FROM a\n# one\nENV X=1\n  # two\nRUN ls\n#three"))
    assert [entry.keys for entry in document.entries] == [("FROM",), ("ENV", "X"), ("RUN",)]
    assert [command.name for command in document.commands] == ["ls"]
