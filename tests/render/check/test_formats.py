"""Formats of a check for machines: lines, annotations, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.support.checks import finding, report
from tests.support.reports import report as scan_report
from tpu_audit.render.check.concise import ConciseRenderer
from tpu_audit.render.check.formats import CHECK_FORMATS, check_renderer
from tpu_audit.render.check.github import GithubRenderer
from tpu_audit.render.check.json_report import JsonRenderer
from tpu_audit.render.check.view import CheckView
from tpu_audit.render.json_report import JsonRenderer as ScanJson
from tpu_audit.render.schema import check_adapter, check_schema
from tpu_audit.types.report import Location

PUBLISHED = Path(__file__).parents[3] / "reports" / "schema" / "check-v1.json"
VIEW = CheckView()


def test_concise() -> None:
    """``path:line:column: CODE severity: message``, then what could not be read."""
    lines = ConciseRenderer().render(report(), VIEW).splitlines()

    assert lines[0].startswith("a, b.py:2:19: TPA103 error: `.cuda()` raises")
    assert lines[-1] == "c.py:3: could not read: not valid Python 3: x"
    shown = ConciseRenderer().render(report(), CheckView(show_suppressed=True))
    assert "[ignored by comment]" in shown


def test_concise_stays_on_its_lines() -> None:
    """A name with a line end or an escape is spelled out."""
    bad = finding(location=Location(path="a\n\x1b[0m.py", line=1, column=1))
    text = ConciseRenderer().render(report(findings=(bad,), unread=()), VIEW)

    assert (text.count("\n"), "\x1b" in text) == (1, False)


def test_github() -> None:
    """Workflow commands with their properties escaped, one level a severity."""
    bad = finding(message="100%\nsure", fix="")
    lines = GithubRenderer().render(report(findings=(bad, *report().findings)), VIEW).splitlines()

    assert lines[0] == "::error file=a%2C b.py,line=2,col=19,title=TPA103::100%25%0Asure"
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::notice", "::notice"]
    assert lines[1].endswith("CUDA there%0Awrite `.to(device)`")


@pytest.mark.parametrize("fmt", CHECK_FORMATS)
def test_nothing_found(fmt: str) -> None:
    """Every format takes a report without findings."""
    text = check_renderer(fmt).render(report(findings=(), causes=(), unread=()), VIEW)

    assert text == "" or text.endswith("\n")


def test_json() -> None:
    """The JSON is valid by the published schema, current, and reads back as the same report."""
    text = JsonRenderer().render(report(), VIEW)
    schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))

    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    assert schema == check_schema()
    assert check_adapter().validate_json(text) == report()


def test_findings_are_those_of_a_scan() -> None:
    """A finding has the same fields in a check's report as in a scan's."""
    mine = json.loads(JsonRenderer().render(report(), VIEW))["findings"][0]
    theirs = json.loads(ScanJson().render(scan_report(), VIEW))["findings"][0]

    assert list(mine) == list(theirs)
    assert {"code", "severity", "message", "fix", "location"} <= set(mine)
    assert mine["location"] == {"path": "a, b.py", "line": 2, "column": 19, "module": None}
