"""Dockerfiles: instructions, commands, what they install."""

from __future__ import annotations

from tests.support.documents import at, pins, read, start, values, words

TEXT = """\
# FROM nvcr.io/never
ARG BASE=nvidia/cuda:12.1
FROM --platform=linux/amd64 ${BASE} AS build
ENV CUDA_HOME=/usr/local/cuda \\
    # a comment inside
    A="b c"
ENV OLD some value
run --mount=type=cache,target=/x pip install flash-attn==2.3.4 && \\
    # another
    apt-get update; nvidia-smi
RUN <<EOT
pip install xformers
EOT
CMD ["python", "-m", "x"]
ENTRYPOINT ["sh", "-c", "nvcc && python x.py"]
ONBUILD RUN nvcc y
"""


def test_instructions() -> None:
    """FROM knows the defaults of ARG; pairs of ENV and ARG are entries of their own."""
    document = read("dockerfile", TEXT)

    assert values(document)["FROM"] == "nvidia/cuda:12.1"
    assert at(document, "FROM") == ("${BASE}", (3, 29))
    assert at(document, "ENV.A") == ('"b c"', (6, 7))
    assert values(document)["ENV.OLD"] == "some value"
    assert not any("nvcr.io" in str(value) for value in values(document).values())


def test_commands() -> None:
    """RUN in shell, exec and heredoc form; comments between its lines are not commands."""
    document = read("dockerfile", TEXT)

    assert words(document) == [
        ["pip", "install", "flash-attn==2.3.4"],
        ["apt-get", "update"],
        ["nvidia-smi"],
        ["pip", "install", "xformers"],
        ["python", "-m", "x"],
        ["sh", "-c", "nvcc && python x.py"],
        ["nvcc"],
        ["python", "x.py"],
        ["nvcc", "y"],
    ]
    assert start(document.commands[2].span) == (10, 21)
    assert start(document.commands[6].span) == (15, 26)


def test_requirements() -> None:
    """What RUN installs is a requirement at its word."""
    document = read("dockerfile", TEXT)

    assert pins(document) == [("flash-attn", "==2.3.4"), ("xformers", "")]
    assert start(document.requirements[1].span) == (12, 13)


def test_windows_line_ends() -> None:
    """A continued line may end in CRLF."""
    document = read("dockerfile", "FROM a\r\nRUN x \\\r\n  && y\r\n")

    assert words(document) == [["x"], ["y"]]
