"""INI files: options, values over several lines, dependencies and commands."""

from __future__ import annotations

from tests.support.documents import at, pins, read, start, values, words

SETUP = """\
[metadata]
name = é ; a comment
[options]
install_requires =
    torch>=1 ; python_version > "3"
    # a comment
    flash-attn  # c
[options.extras_require]
gpu =
    cupy
"""


def test_values_and_places() -> None:
    """Options with their sections, without comments, at their places."""
    document = read("ini", SETUP, "setup.cfg")

    assert at(document, "metadata.name") == ("é", (2, 8))
    assert values(document)["options.install_requires"] == "torch>=1\nflash-attn"
    assert values(read("ini", "[a]\nb: 1\nc = 'd'\n=\nnothing\n")) == {"a.b": 1, "a.c": "d"}


def test_requirements() -> None:
    """Each line of a dependency option is a requirement at its own place."""
    document = read("ini", SETUP, "setup.cfg")

    assert pins(document) == [("torch", ">=1"), ("flash-attn", ""), ("cupy", "")]
    assert start(document.requirements[1].span) == (7, 5)


def test_tox() -> None:
    """Tox's commands are commands, and its dependencies may name an environment first."""
    text = (
        "[testenv:gpu]\ndeps =\n    py311: torch\n    -r x.txt\n"
        "commands =\n    pytest -m gpu {posargs}\n"
    )
    document = read("ini", text, "tox.ini")

    assert pins(document) == [("torch", "")]
    assert words(document) == [["pytest", "-m", "gpu", "{posargs}"]]
    assert start(document.commands[0].words[2].span) == (6, 15)
