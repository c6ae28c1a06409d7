"""The matrix of evidence: marks, the page as a browser reads it, the summary."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from op_registry.evidence import DTYPES, Cause
from op_registry.loader import load
from op_registry.schema import Support
from tests.support.calls import proofs, record, snapshot, tally
from tests.support.verified import COPY, GONE, KERNEL, MEDIAN, RAND, SORT, VERIFIED
from tpu_audit.render.matrix import FORMATS
from tpu_audit.render.matrix.cells import DIFFERS, EMULATED, Mark, cell, rows

HOSTILE = '<script>alert(1)</script> "quoted" & | `code` \x1b[2J'


class Page(HTMLParser):
    """Reads a page: the cells of its last table, its scripts, whatever it would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.titles: list[str] = []
        self.scripts = 0
        self.fetched: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell."""
        found = dict(attrs)
        self.scripts += tag == "script"
        self.fetched += [value or "" for name, value in attrs if name in {"src", "href", "action"}]
        if tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
            self._open = tag
            self.titles.append(found.get("title") or "")

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        if tag == self._open:
            self._open = ""

    def handle_data(self, data: str) -> None:
        """Add to the open cell."""
        if self._open:
            self.rows[-1][-1] += data


@pytest.mark.parametrize(
    ("dtype", "mark", "added"),
    [
        ("float32", Mark.NUMERICS, ""),
        ("bfloat16", Mark.LOWERED, ""),
        ("float64", Mark.NUMERICS, EMULATED),
        ("bool", Mark.NUMERICS, DIFFERS),
        ("complex64", Mark.REFUSED, ""),
        ("int32", Mark.UNTRIED, ""),
    ],
)
def test_marks(dtype: str, mark: Mark, added: str) -> None:
    """The strongest step marks the cell; emulation and disagreement are added."""
    found = cell(SORT, dtype)
    assert (found.mark, found.added) == (mark, added)


def test_marks_of_other_ops() -> None:
    """Random numbers, a kernel that reads the host, and a reference kernel have their own."""
    sync = tally(0, 2, (Cause.HOST_SYNC, "cannot Materialize()", 2))
    reads = record(
        "aten.item.default",
        dtypes={"bool": proofs(lowered=sync, compiled={}, numerics=tally(0, 0))},
    )
    assert cell(RAND, "float32").mark is Mark.RANDOM
    assert cell(reads, "bool").mark is Mark.SYNC
    assert cell(MEDIAN, "float32").mark is Mark.REFERENCE
    assert (
        cell(replace(MEDIAN, reference_checks={"float32": "0/9"}), "float32").mark is Mark.UNTRIED
    )


def test_rows_are_native_ops_and_missing_ones_with_a_reference() -> None:
    """A missing op without a kernel has nothing to show."""
    shown = [row.op for row in rows(VERIFIED)]
    assert shown == [COPY.op, MEDIAN.op, RAND.op, SORT.op]
    assert GONE.op not in shown


def test_the_page_reads_without_javascript() -> None:
    """Every op, mark, count and message stands in the HTML itself."""
    page = Page(FORMATS[".html"](VERIFIED))
    header, *body = page.rows
    found = {row[0]: dict(zip(header, row, strict=True)) for row in body}

    assert header == ["op", "support", *DTYPES, "reference", "details"]
    assert list(found) == [row.op for row in rows(VERIFIED)]
    assert found[SORT.op]["float64"] == "num+e"
    assert found[MEDIAN.op]["support"] == "missing"
    assert found[MEDIAN.op]["reference"] == KERNEL
    assert "sort(): complex has no order" in found[SORT.op]["details"]
    assert "lowered 8/8; compiled v5e 1/1, v6e 2/2; numerics 3/3; gradient 2/2" in page.titles


def test_the_page_fetches_nothing() -> None:
    """No address in it, and a policy that lets the browser fetch nothing."""
    text = FORMATS[".html"](VERIFIED)
    assert Page(text).fetched == []
    assert "default-src 'none'" in text
    assert re.findall(r"https?:|url\(|@import", text) == []


def test_strangers_cannot_write_into_the_page() -> None:
    """Texts of a registry come out as text, in HTML and in Markdown."""
    said = tally(0, 1, (Cause.REJECTED, HOSTILE, 1))
    bad = record(
        "aten.x.default",
        dtypes={"bool": proofs(lowered=said, numerics=tally(0, 2, (Cause.VALUES, HOSTILE, 2)))},
        reference=HOSTILE,
        reference_checks={"bool": HOSTILE},
        reference_note=HOSTILE,
    )
    registry = replace(snapshot(bad), version=HOSTILE)
    text = FORMATS[".html"](registry)

    assert Page(text).scripts == 1
    assert "alert(1)" in text
    assert "\x1b" not in text
    summary = FORMATS[".md"](registry)
    assert "<script>" not in summary
    (line,) = [line for line in summary.splitlines() if line.startswith("| aten.x.default | any")]
    assert re.sub(r"\\.", "", line).count("|") == 3


def test_the_page_of_a_whole_registry_is_small_enough_to_send() -> None:
    """Even with evidence and messages at every dtype of every native op it is below 3 MB."""
    native = [found for found in load().ops.values() if found.support is Support.NATIVE]
    message = "made(): a message of the length that kernels' messages have: see the argument"
    chips = {chip: tally(1, 1) for chip in ("v5e", "v5p", "tpu7x")} | {"v6e": tally(2, 2)}
    lowered = tally(7, 8, (Cause.REJECTED, message, 1))
    every = {dtype: proofs(lowered=lowered, compiled=chips) for dtype in DTYPES}
    tenth = [
        replace(found, dtypes=every, reference="torch._refs.nn.functional.made")
        for found in native[::10]
    ]
    text = FORMATS[".html"](snapshot(*tenth))

    assert len(Page(text).rows) == 1 + len(tenth)
    assert len(text.encode()) * len(native) / len(tenth) < 3 * 2**20


def test_the_summary() -> None:
    """Counts by dtype, refusals, disagreements and random ops, each op by name."""
    text = FORMATS[".md"](VERIFIED)

    assert "| float32 | 1 | 0 | 0 | 0 | 0 | 2 |" in text
    assert "| aten.sort.default | any call at complex64: sort(): complex has no order |" in text
    assert "| aten.sort.default | descending=True at int32: descending: not yet |" in text
    assert "| aten.sort.default | bool | values | 1 | result 0: 255 where" in text
    assert "`aten.rand.default`" in text
    assert "None." in FORMATS[".md"](snapshot(GONE))
