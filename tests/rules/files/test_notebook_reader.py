"""Notebooks: one module, one script, and the way back into the file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tpu_audit.rules.edits import Applicability, Edit, Fix, apply_edits
from tpu_audit.rules.files import notebook_reader
from tpu_audit.rules.files.errors import NotReadableError
from tpu_audit.rules.files.notebook_reader import Notebook, escape, read
from tpu_audit.rules.text import SourceText

CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "source": ["x.cuda()"]},
    {
        "cell_type": "code",
        "source": [
            "!pip install cupy\n",
            "import torch\n",
            "if 1:\n",
            '    !nvidia-smi "a"\n',
            's = "é\\n"; x.cuda()\n',
            "x?",
        ],
    },
    {"cell_type": "code", "source": "%%bash\nmodule load cuda"},
    {"cell_type": "code", "source": ["def (:"]},
    {"cell_type": "code", "source": ["%%time\n", "%timeit -n 3 y.cuda()\n", "files = !ls -l"]},
]


def text_of(cells: list[dict[str, Any]], **layout: Any) -> str:
    """Return a notebook as a file would hold it."""
    return json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}, **layout)


def notebook(**layout: Any) -> tuple[SourceText, Notebook]:
    """Return the notebook of ``CELLS``, written with this layout."""
    source = SourceText(text_of(CELLS, **layout))
    return source, read(source)


def test_python_and_shell() -> None:
    """Magics become harmless statements, shell lines a script, broken cells are left out."""
    source, found = notebook(indent=1)

    assert found.python.source.text == (
        'pass\nimport torch\nif 1:\n    pass\ns = "é\\n"; x.cuda()\npass\ny.cuda()\npass\n'
    )
    assert found.shell.source.text == (
        'pip install cupy\nnvidia-smi "a"\nmodule load cuda\nls -l\n'
    )
    (line,) = found.unparsed
    assert "def (:" in source.line(line)


@pytest.mark.parametrize("layout", [{}, {"indent": 1}, {"indent": 2, "ensure_ascii": False}])
@pytest.mark.parametrize("needle", ["x.cuda()", "y.cuda()"])
def test_places_lead_back(layout: dict[str, Any], needle: str) -> None:
    """Whatever the file's layout and escapes, a place in the module is that place in the file."""
    source, found = notebook(**layout)
    start = found.python.source.text.index(needle)
    span = found.python.span(found.python.source.span(start, start + len(needle)))

    assert source.slice(span) == needle
    assert (span.line > 1) == bool(layout)


@pytest.mark.parametrize("layout", [{}, {"indent": 1}])
def test_repairs_lead_back(layout: dict[str, Any]) -> None:
    """An edit of the module is an edit of the file, escaped as JSON asks; the rest stays."""
    source, found = notebook(**layout)
    python = found.python.source
    start = python.text.index("x.cuda()")
    low, high = python.byte_range(python.span(start, start + len("x.cuda()")))
    fix = Fix(
        edits=(Edit(start=low, end=high, text='x.to("é\\n")\ny'),),
        applicability=Applicability.SAFE,
    )
    after = apply_edits(source.encoded, found.python.fix(fix, escape).edits).decode()

    expected = json.loads(source.text)
    lines = expected["cells"][1]["source"]
    lines[4] = lines[4].replace("x.cuda()", 'x.to("é\\n")\ny')
    assert json.loads(after) == expected


@pytest.mark.parametrize("text", ["{}", "[]", '{"worksheets": []}', "{"])
def test_no_notebook(text: str) -> None:
    """Other JSON is refused."""
    with pytest.raises(NotReadableError):
        read(SourceText(text))


def test_no_code() -> None:
    """A notebook without code is an empty module."""
    found = read(SourceText(text_of(CELLS[:1])))

    assert (found.python.source.text, found.shell.source.text, found.unparsed) == ("", "", ())


def test_endless_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """More code than a person writes is refused; an output may be as large."""
    monkeypatch.setattr(notebook_reader, "MAX_CODE", 100)
    output = {"cell_type": "code", "source": "x = 1", "outputs": [{"text": "a" * 101}]}
    assert read(SourceText(text_of([output]))).python.source.text == "x = 1\n"
    with pytest.raises(NotReadableError, match="its code has 101 characters"):
        read(SourceText(text_of([{"cell_type": "code", "source": ["x", "a" * 100]}])))
