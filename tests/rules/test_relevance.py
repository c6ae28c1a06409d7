"""Which rules look at a text: told by its words, without parsing it."""

from __future__ import annotations

import pytest

from tests.support.rules import make
from tpu_audit.rules.relevance import relevant, words_of


@pytest.mark.parametrize(
    ("words", "text", "wanted"),
    [
        (("cuda",), "x.cuda()", True),
        (("cuda",), "import barracuda", False),
        (("cuda",), "cudart", False),
        (("NCCL_*",), "NCCL_DEBUG", True),
        (("NCCL_*",), "nccl", False),
        (("nccl", "cuda"), '"nccl"', True),
        (("cuda",), '"import torch\\ncuda"', True),
        ((), "", True),
        (("cuda",), "\u00e9.cuda", True),
    ],
)
def test_relevance(words: tuple[str, ...], text: str, wanted: bool) -> None:
    """A file that holds none of a rule's words is not looked at by it."""
    rule = make(words=words)
    assert relevant([rule], text) == ((rule,) if wanted else ())


def test_words() -> None:
    """Words are runs of letters, digits and underscores."""
    assert words_of("a.b_1('x-y')") == {b"a", b"b_1", b"x", b"y"}


def test_other_words_in_python() -> None:
    """A rule may look for other words in Python files than in others."""
    rule = make(words=("torch*",), words_in_python=("install_requires",))
    rule.document()(lambda _: ())
    rule.module(lambda _: ())
    assert relevant([rule], "import torch", "python") == ()
    assert relevant([rule], "install_requires = []", "python") == (rule,)
    assert relevant([rule], "torch==2.1", "requirements") == (rule,)


def test_kinds() -> None:
    """A rule for documents is left out of Python files, and the other way round."""
    document, python = make(), make()
    document.document("yaml")(lambda _: ())
    python.module(lambda _: ())
    assert relevant([document, python], "cuda", "python") == (python,)
    assert relevant([document, python], "cuda", "yaml") == (document,)
    assert relevant([document, python], "cuda", "notebook") == (document, python)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("x.to(d)", True), ("to = 1", False), ("x .to (d)", False), ("into(d)", False)],
)
def test_parts_with_signs(text: str, wanted: bool) -> None:
    """A text with signs in it is sought as it stands."""
    rule = make(words=(".to(*",))
    assert bool(relevant([rule], text)) is wanted
