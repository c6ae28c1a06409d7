"""Requirements files: requirements, options, and lines that continue."""

from __future__ import annotations

import pytest

from tests.support.documents import pins, read, start, words
from tpu_audit.rules.files.requirement_text import parse, parse_conda

TEXT = """\
# a comment
--extra-index-url https://download.pytorch.org/whl/cu121
torch==2.1.0+cu121 ; python_version > "3" # hi
nvidia-cublas-cu12==12.1 \\
    --hash=sha256:abc \\
    --hash=sha256:def
-e git+https://github.com/NVIDIA/apex.git
-r other.txt
Flash_Attn [x] >= 2, <3
xformers @ https://x.org/xformers-0.1-py3-none-any.whl
"""


def test_requirements() -> None:
    """Names are normalised, versions as written, places exact."""
    document = read("requirements", TEXT)

    assert pins(document) == [
        ("torch", "==2.1.0+cu121"),
        ("nvidia-cublas-cu12", "==12.1"),
        ("apex", ""),
        ("flash-attn", ">= 2, <3"),
        ("xformers", ""),
    ]
    assert [start(found.span)[0] for found in document.requirements] == [3, 4, 7, 9, 10]
    assert document.source.slice(document.requirements[1].span) == "nvidia-cublas-cu12==12.1"


def test_options_are_commands() -> None:
    """An option can be asked for like that of a command."""
    document = read("requirements", TEXT)

    assert ["--extra-index-url", "https://download.pytorch.org/whl/cu121"] in words(document)
    found = document.commands[0].option("--index-url", "--extra-index-url")
    assert found is not None
    assert start(found.span) == (2, 19)


@pytest.mark.parametrize(
    ("text", "name", "specifier"),
    [
        ("torch", "torch", ""),
        ("A.b_C--d~=1.0", "a-b-c-d", "~=1.0"),
        ("x[y,z]!=1.*", "x", "!=1.*"),
        (
            "git+https://github.com/Dao-AILab/flash-attention.git@v2#egg=flash_attn",
            "flash-attn",
            "",
        ),
        ("https://x/torch-2.1.0%2Bcu121-cp310-cp310-linux_x86_64.whl", "torch", "==2.1.0+cu121"),
        ("https://x/apex-0.1.tar.gz", "apex", "==0.1"),
        ("git+https://github.com/NVIDIA/apex", "apex", ""),
        ("nvidia-x (>=1)", "nvidia-x", ">=1"),
    ],
)
def test_one_requirement(text: str, name: str, specifier: str) -> None:
    """Names, extras, versions and URLs of every form."""
    found = parse(text)

    assert found is not None
    assert (found.name, found.specifier) == (name, specifier)


@pytest.mark.parametrize("text", ["", "-x", "a b c", "{{ x }}", "x = 1 y"])
def test_no_requirement(text: str) -> None:
    """Other text is none."""
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "name", "specifier"),
    [
        ("pytorch-cuda=11.8", "pytorch-cuda", "=11.8"),
        ("numpy >=1.2,<2", "numpy", ">=1.2,<2"),
        ("nvidia::cudatoolkit=11=h1", "cudatoolkit", "=11=h1"),
        ("cuda-nvcc", "cuda-nvcc", ""),
    ],
)
def test_conda(text: str, name: str, specifier: str) -> None:
    """Conda's own way to write versions, builds and channels."""
    found = parse_conda(text)

    assert found is not None
    assert (found.name, found.specifier) == (name, specifier)
