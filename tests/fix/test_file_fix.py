"""One file repaired: passes, imports, encodings, and what must never be written."""

from __future__ import annotations

import ast
import codecs
import json
from typing import TYPE_CHECKING

import pytest

from tests.support.trees import HIT
from tpu_audit.check.own_rules import OWN_RULES
from tpu_audit.check.selection import per_file
from tpu_audit.fix.file_fix import Wish, repair_bytes
from tpu_audit.rules import catalogue
from tpu_audit.rules.edits import Applicability, Edit, Fix
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tpu_audit.check.selection import PerFile
    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

SAFE = frozenset({Applicability.SAFE})
NEW = HIT.replace("cuda()", 'to(torch.accelerator.current_accelerator() or torch.device("cpu"))')


def repaired(
    data: bytes,
    *rules: Rule,
    name: str = "a.py",
    least: frozenset[Applicability] = SAFE,
    exceptions: tuple[PerFile, ...] = (),
) -> tuple[bytes, dict[str, int], dict[str, int]]:
    """Return what a file becomes, which repairs were made and which refused."""
    wish = Wish(rules=rules or catalogue.rules(), applicable=least, exceptions=exceptions)
    done = repair_bytes(name, data, wish)
    return done.after, dict(done.applied), dict(done.refused)


def swap(
    code: str, old: str, new: str, *, level: Applicability = Applicability.SAFE,
    adds: tuple[str, ...] = (), removes: tuple[str, ...] = (),
) -> Rule:  # fmt: skip
    """Return a rule that finds the name ``old`` and writes ``new`` over it."""
    docs = Docs(what="w", why="y", example="e", instead="i")
    rule = Rule(
        code=code, name=f"swap-{old}", severity=Severity.ERROR, docs=docs, words=(old,), valid=(),
        invalid=(),
    )  # fmt: skip

    @rule.node(ast.Name)
    def check(node: ast.Name, module: Module) -> Iterator[Hit]:
        if node.id == old:
            start, end = module.byte_range(node)
            edits = (Edit(start=start, end=end, text=new),)
            fix = Fix(edits=edits, applicability=level, adds_imports=adds, removes_imports=removes)
            yield module.hit(node, "m", "a", fix=fix)

    return rule


def deletion(code: str, name: str) -> Rule:
    """Return a rule that deletes the statements that call ``name``."""
    docs = Docs(what="w", why="y", example="e", instead="i")
    rule = Rule(
        code=code, name=f"no-{name}", severity=Severity.ERROR, docs=docs, words=(name,), valid=(),
        invalid=(),
    )  # fmt: skip

    @rule.call(name)
    def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
        del name
        fix = repair.delete(module, module.statement(call), Applicability.SAFE)
        yield module.hit(call, "m", "a", fix=fix)

    return rule


@pytest.mark.parametrize(
    ("encode", "name"),
    [
        (str.encode, "plain"),
        (lambda text: codecs.BOM_UTF8 + text.encode(), "marked"),
        (lambda text: text.replace("\n", "\r\n").encode(), "crlf"),
        (lambda text: ("# coding: latin-1\n# é\n" + text).encode("latin-1"), "declared"),
        (lambda text: text.rstrip("\n").encode(), "no end"),
    ],
)
def test_bytes_are_kept(encode: Callable[[str], bytes], name: str) -> None:
    """The mark, the encoding, the line ends and the last line stay as they are."""
    del name
    after, applied, _ = repaired(encode(HIT))

    assert after == encode(NEW)
    assert applied == {"TPA103": 1}


def test_idempotent() -> None:
    """A second repair changes nothing."""
    once, _, _ = repaired(HIT.encode())

    assert repaired(once) == (once, {}, {})


def test_passes() -> None:
    """What one repair brings to light is repaired in the next pass."""
    chain = (swap("TPA1", "a", "b + b"), swap("TPA2", "b", "c"))

    assert repaired(b"x = a\n", *chain) == (b"x = c + c\n", {"TPA1": 1, "TPA2": 2}, {})


def test_endless_repairs_end() -> None:
    """Repairs that ask for each other stop after some passes, with a file that parses."""
    after, applied, _ = repaired(b"x = a\n", swap("TPA1", "a", "b"), swap("TPA2", "b", "a"))

    assert after == b"x = a\n"
    assert sum(applied.values()) == 10


def test_refused() -> None:
    """A repair that breaks the file is left out and named; the others are made."""
    rules = (swap("TPA1", "a", "(("), swap("TPA2", "b", "c"))

    assert repaired(b"x = a\ny = b\n", *rules) == (b"x = a\ny = c\n", {"TPA2": 1}, {"TPA1": 1})


def test_repairs_that_fit_one_by_one() -> None:
    """Two deletions that would leave an empty block are made one after the other."""
    rule = deletion("TPA1", "a")

    assert repaired(b"if x:\n    a()\n    a()\n", rule) == (b"if x:\n    pass\n", {"TPA1": 2}, {})


def test_refused_when_it_does_not_compile() -> None:
    """Parsing is not enough: what compiled must compile."""
    after, _, refused = repaired(b"x = a\n", swap("TPA1", "a", "(yield)"))

    assert (after, refused) == (b"x = a\n", {"TPA1": 1})


def test_refused_for_the_encoding() -> None:
    """A character that the file's encoding lacks is not written."""
    before = b"# coding: ascii\nx = a\n"

    assert repaired(before, swap("TPA1", "a", "'é'")) == (before, {}, {"TPA1": 1})


@pytest.mark.parametrize(
    ("level", "least", "changes"),
    [
        (Applicability.SAFE, SAFE, True),
        (Applicability.UNSAFE, SAFE, False),
        (Applicability.UNSAFE, SAFE | {Applicability.UNSAFE}, True),
        (Applicability.DISPLAY, SAFE | {Applicability.UNSAFE}, False),
    ],
)
def test_applicability(
    level: Applicability, least: frozenset[Applicability], changes: bool
) -> None:
    """Only what was asked for is made; what is for display never."""
    after, _, _ = repaired(b"x = a\n", swap("TPA1", "a", "b", level=level), least=least)

    assert (after == b"x = b\n") is changes


def test_imports() -> None:
    """Imports that the new text needs come, those that only the old text used go."""
    rule = swap("TPA1", "pynvml", "torch", adds=("import torch",), removes=("import pynvml",))
    before = b"import os\nimport pynvml\n\nx = os, pynvml\n"
    after, _, _ = repaired(before, rule)

    assert after == b"import os\nimport torch\n\nx = os, torch\n"


def test_imports_that_nothing_uses_any_more() -> None:
    """What only the old text used goes with it, but not from a package's own file."""
    rule = swap("TPA1", "autocast", "torch")
    before = b"import torch\nfrom torch.cuda.amp import GradScaler, autocast\n\nx = autocast\n"
    after = b"import torch\nfrom torch.cuda.amp import GradScaler\n\nx = torch\n"

    assert repaired(before, rule)[0] == after
    kept, _, _ = repaired(before, rule, name="p/__init__.py")
    assert kept == before.replace(b"= autocast", b"= torch")


def test_ignored() -> None:
    """What a comment or the settings silence is not repaired; an idle comment goes."""
    assert repaired(HIT.encode(), exceptions=per_file(["*.py:TPA103"]))[0] == HIT.encode()
    text = HIT.replace("cuda()\n", "cuda()  # tpu-audit: ignore[TPA103] why\n").encode()
    assert repaired(text)[0] == text
    idle = b"y = 1  # tpu-audit: ignore[TPA103] why\n# tpu-audit: ignore[TPA101] why\nz = 2\n"
    assert repaired(idle, *OWN_RULES, *catalogue.rules()) == (b"y = 1\nz = 2\n", {"TPA001": 2}, {})


def test_notebook() -> None:
    """A notebook is repaired in its cells; layout, outputs and other cells stay."""
    cells = [
        {"cell_type": "markdown", "source": ["a"]},
        {
            "cell_type": "code",
            "outputs": [{"text": "a"}],
            "source": ["!pip install a\n", "x = a\n"],
        },
        {"cell_type": "code", "source": ["%time y = a"]},
    ]
    before = json.dumps({"cells": cells, "nbformat": 4}, indent=1) + "\n"
    rule = swap("TPA1", "a", 'b("é\\n")', adds=("import b",))
    after, applied, _ = repaired(before.encode(), rule, name="a.ipynb")
    found = json.loads(after)

    assert applied == {"TPA1": 2}
    assert "".join(found["cells"][1]["source"]) == 'import b\n\n!pip install a\nx = b("é\\n")\n'
    assert found["cells"][2]["source"] == ['%time y = b("é\\n")']
    assert (found["cells"][0], found["cells"][1]["outputs"]) == (cells[0], [{"text": "a"}])
    assert after.decode().count("\n") == before.count("\n")


def test_notebook_cell_that_would_break() -> None:
    """A cell that would no longer parse is refused, though the notebook would still be JSON."""
    text = json.dumps({"cells": [{"cell_type": "code", "source": ["x = a"]}], "nbformat": 4})

    assert repaired(text.encode(), swap("TPA1", "a", "(("), name="a.ipynb")[0] == text.encode()


def test_documents() -> None:
    """Other files are repaired too, and not into something that their format refuses."""
    docs = Docs(what="w", why="y", example="e", instead="i")

    def rule(code: str, text: str) -> Rule:
        made = Rule(
            code=code, name=code.lower(), severity=Severity.ERROR, docs=docs, words=("gpu",),
            valid=(), invalid=(),
        )  # fmt: skip

        @made.document("yaml")
        def check(document: Document) -> Iterator[Hit]:
            for entry in document.keyed("gpu"):
                assert entry.key_span is not None
                fix = document.replace(entry.key_span, text, Applicability.SAFE)
                yield document.hit(entry.key_span, "m", "a", fix=fix)

        return made

    before = "é: {gpu: 1}\r\nb: {gpu: 2}  # c\r\n".encode()
    assert repaired(before, rule("TPA8", "google"), name="a.yaml")[0] == before.replace(
        b"gpu", b"google"
    )
    assert repaired(before, rule("TPA8", "]"), name="a.yaml") == (before, {}, {"TPA8": 2})


@pytest.mark.parametrize("data", [b"def (: cuda", b"\0cuda", b"cuda\xff", b""])
def test_unreadable(data: bytes) -> None:
    """What cannot be read comes back as it is."""
    assert repaired(data) == (data, {}, {})
