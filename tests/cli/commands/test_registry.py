"""The registry, looked into without torch."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from op_registry.codec import encode
from op_registry.loader import load
from op_registry.schema import Hazard, Support

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_line import CommandLine

SNAPSHOT = load()
CONTRACT = [
    *("op", "schema", "resolution", "support", "hazards", "fallback", "evidence", "reference")
]


def test_show_one_overload(tpu_audit: CommandLine) -> None:
    """One overload is an object with the promised keys."""
    op = json.loads(tpu_audit("registry", "show", "aten::add.Tensor", "-f", "json").out)

    assert op["op"] == "aten.add.Tensor"
    assert set(CONTRACT) <= set(op)
    assert op["resolution"]["privateuse1"] == SNAPSHOT.ops["aten.add.Tensor"].privateuse1
    assert op["evidence"][0]["kind"] == "registered"


@pytest.mark.parametrize("name", ["add", "aten.add", "aten::add", "torch.ops.aten.add"])
def test_show_all_overloads(tpu_audit: CommandLine, name: str) -> None:
    """The name of an op means all its overloads: a list under ``ops``."""
    found = json.loads(tpu_audit("registry", "show", name, "-f", "json").out)["ops"]

    expected = [op for op in sorted(SNAPSHOT.ops) if op.startswith("aten.add.")]
    assert [op["op"] for op in found] == expected
    assert len(found) > 1


def test_show_for_people(tpu_audit: CommandLine) -> None:
    """A hazard and its reason are on the page."""
    op = next(op for op, record in SNAPSHOT.ops.items() if Hazard.NO_GRADIENT in record.hazards)
    ran = tpu_audit("registry", "show", op)

    assert ran.out.startswith(f"{op}\n")
    assert "! no_grad" in ran.out


def test_show_unknown(tpu_audit: CommandLine) -> None:
    """An unknown op is 2 and names the registry and the nearest op."""
    ran = tpu_audit("registry", "show", "aten.ad.Tensor")

    assert ran.code == 2
    assert "the registry of torch-tpu 0.2.0 for torch" in ran.err
    assert "did you mean 'aten.add.Tensor'" in ran.err


def test_list_filters(tpu_audit: CommandLine) -> None:
    """Filters combine, the total counts what the limit hides."""
    args = ("--support", "missing", "--namespace", "aten", "--limit", "2", "-f", "json")
    found = json.loads(tpu_audit("registry", "list", *args).out)

    missing = [
        op
        for op, record in sorted(SNAPSHOT.ops.items())
        if op.startswith("aten.") and record.support is Support.MISSING
    ]
    assert found["total"] == len(missing)
    assert [op["op"] for op in found["ops"]] == missing[:2]


def test_list_by_hazard(tpu_audit: CommandLine) -> None:
    """A hazard selects the ops that carry it, one a line."""
    ran = tpu_audit("registry", "list", "--hazard", "no_gradient")

    header, *lines = ran.out.splitlines()
    carrying = [op for op, rec in sorted(SNAPSHOT.ops.items()) if Hazard.NO_GRADIENT in rec.hazards]
    assert header.split() == ["op", "support", "evidence", "hazards"]
    assert [line.split()[0] for line in lines] == carrying
    assert ran.err == f"note: {len(carrying)} ops\n"


def test_list_unknown_namespace(tpu_audit: CommandLine) -> None:
    """An unknown namespace is 2, not an empty list."""
    ran = tpu_audit("registry", "list", "--namespace", "atn")

    assert ran.code == 2
    assert "no namespace 'atn' in the registry\nhint: did you mean 'aten'" in ran.err


def test_stats_add_up(tpu_audit: CommandLine) -> None:
    """Namespaces, supports and resolutions each add up to all ops."""
    found = json.loads(tpu_audit("registry", "stats", "-f", "json").out)

    total = len(SNAPSHOT.ops)
    spaces = found["namespaces"].values()
    assert found["total"] == total
    assert sum(space["total"] for space in spaces) == total
    assert sum(found["resolution"].values()) == total
    supports = Counter(record.support.value for record in SNAPSHOT.ops.values())
    assert {s.value: sum(space[s] for space in spaces) for s in Support} == {
        support.value: supports[support] for support in Support
    }
    assert tpu_audit("registry", "stats").out.startswith("torch-tpu 0.2.0 for torch ")


def test_diff(tpu_audit: CommandLine, tmp_path: Path) -> None:
    """A gained op, a lost op and a changed one are each found; nothing else is."""
    mm, add = SNAPSHOT.ops["aten.mm.default"], SNAPSHOT.ops["aten.add.Tensor"]
    ops = {op: record for op, record in SNAPSHOT.ops.items() if op != "aten.mish.default"}
    ops["aten.mm.default"] = replace(mm, support=Support.UNKNOWN, hazards={Hazard.HOST_SYNC: "x"})
    ops["aten.brand_new.default"] = replace(add, op="aten.brand_new.default")
    path = tmp_path / "next.json"
    path.write_bytes(encode(replace(SNAPSHOT, version="0.3.0", ops=ops)))
    name = f"0.2.0+torch{SNAPSHOT.torch.rpartition('.')[0]}"

    found = json.loads(tpu_audit("registry", "diff", name, str(path), "-f", "json").out)

    assert found["added"] == ["aten.brand_new.default"]
    assert found["removed"] == ["aten.mish.default"]
    assert found["changed"] == [
        {"op": "aten.mm.default", "before": "native", "after": "unknown (host_sync)"}
    ]
    text = tpu_audit("registry", "diff", name, str(path))
    assert "changed  aten.mm.default         native -> unknown (host_sync)" in text.out
    assert text.err == "note: 1 added, 1 removed, 1 changed, 0 with other evidence\n"


def test_registry_option(tpu_audit: CommandLine, tmp_path: Path) -> None:
    """``--registry PATH`` chooses in every command; a broken file is 2."""
    path = tmp_path / "own.json"
    path.write_bytes(encode(replace(SNAPSHOT, version="9.9")))
    assert "torch-tpu 9.9" in tpu_audit("registry", "stats", "--registry", str(path)).out

    path.write_text("{", encoding="utf-8")
    ran = tpu_audit("registry", "list", "--registry", str(path))
    assert ran.code == 2
    assert "not a registry snapshot" in ran.err
