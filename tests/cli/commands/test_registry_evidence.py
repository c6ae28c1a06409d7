"""Evidence in the views of a registry: show, explain, list, stats, diff."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from op_registry.codec import encode
from tests.support.calls import proofs, snapshot
from tests.support.verified import KERNEL, MEDIAN, RAND, SORT, VERIFIED, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_line import CommandLine


@pytest.fixture(name="registry")
def _registry(tmp_path: Path) -> tuple[str, str]:
    """Write the registry with evidence and return the option that chooses it."""
    return "--registry", written(tmp_path)


def shown(text: str) -> str:
    """Return the words of a page on one line."""
    return " ".join(text.split())


@pytest.mark.parametrize("command", [("registry", "show"), ("explain",)])
def test_evidence_is_a_table(
    tpu_audit: CommandLine, registry: tuple[str, str], command: tuple[str, ...]
) -> None:
    """One row a dtype, one column a step and chip; below it what did not pass, in words."""
    ran = tpu_audit(*command, "aten.sort.default", *registry)
    rows = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines() if line.split()}

    assert rows["dtype"] == ["lowered", "v5e", "v6e", "numerics", "gradient"]
    assert rows["float32"] == ["8/8", "1/1", "2/2", "3/3", "2/2"]
    assert rows["float64"] == ["8/8", "1/1", "2/2", "3/3", "-"]
    assert rows["emulates"] == ["float64:", "f64", "on", "v6e"]
    text = shown(ran.out)
    assert "complex64 lowered: rejected in 4 of 4: sort(): complex has no order" in text
    assert "int64 compiled for v6e: skew in 2 of 2: vhlo.composite_v2" in text
    assert "bool numerics: values in 1 of 3: result 0" in text
    assert "refuses descending=True at int32: descending: not yet" in text
    assert "reference torch._refs.sort; agrees with eager PyTorch: float32 12/12" in text


def test_random_is_labelled(tpu_audit: CommandLine, registry: tuple[str, str]) -> None:
    """What draws random numbers says why it is registered only."""
    ran = tpu_audit("registry", "show", RAND.op, *registry)
    assert "random draws random numbers: cannot be lowered without a device" in shown(ran.out)


def test_explain_offers_the_kernel(tpu_audit: CommandLine, registry: tuple[str, str]) -> None:
    """A missing op with a reference kernel says how to install it, and no other way is needed."""
    text = shown(tpu_audit("explain", MEDIAN.op, *registry).out)
    assert f"install Install the reference kernel {KERNEL}" in text
    assert "import op_registry.reference; op_registry.reference.install()" in text
    assert "no proven replacement" not in text


def test_evidence_as_json(tpu_audit: CommandLine, registry: tuple[str, str]) -> None:
    """Machines get every count and message under the promised names."""
    found: dict[str, Any] = json.loads(
        tpu_audit("registry", "show", SORT.op, *registry, "-f", "json").out
    )

    assert list(found["dtypes"]) == [
        *("float32", "bfloat16", "float64", "int64", "bool", "complex64")
    ]
    assert found["dtypes"]["complex64"]["strongest"] is None
    assert found["dtypes"]["complex64"]["lowered"] == {
        "passed": 0,
        "tried": 4,
        "said": [{"cause": "rejected", "message": "sort(): complex has no order", "samples": 4}],
    }
    assert found["dtypes"]["float64"]["emulated"] == {"v6e": "f64"}
    assert found["dtypes"]["float32"]["compiled"]["v5e"]["passed"] == 1
    assert found["refusals"] == [
        {
            "message": "descending: not yet",
            "when": {"descending": True},
            "dtypes": ["int32"],
            "cause": "rejected",
        }
    ]
    assert (found["random"], found["reference"]) == (False, "torch._refs.sort")
    assert found["reference_checks"] == {"float32": "12/12"}


@pytest.mark.parametrize(
    ("args", "ops"),
    [
        ("--evidence numerics", ["aten.sort.default"]),
        ("--evidence registered", ["aten.copy.default", "aten.rand.default"]),
        ("--evidence none", ["aten.gone.default", "aten.median.default"]),
        ("--evidence lowered --dtype bfloat16", ["aten.sort.default"]),
        ("--evidence none --dtype complex64 --support native", ["aten.sort.default"]),
        ("--evidence registered --dtype int32 --reference", ["aten.sort.default"]),
        ("--dtype bool", ["aten.sort.default"]),
        ("--dtype float16", []),
        ("--reference", ["aten.median.default", "aten.sort.default"]),
        ("--no-reference --support missing", ["aten.gone.default"]),
    ],
)
def test_list_by_evidence(
    tpu_audit: CommandLine, registry: tuple[str, str], args: str, ops: list[str]
) -> None:
    """The strongest evidence selects, at a dtype or at the best one; so does a reference."""
    ran = tpu_audit("registry", "list", *args.split(), *registry, "-f", "json")
    assert [op["op"] for op in json.loads(ran.out)["ops"]] == ops


def test_stats(tpu_audit: CommandLine, registry: tuple[str, str]) -> None:
    """Every native op stands somewhere at every dtype, and references are counted."""
    found = json.loads(tpu_audit("registry", "stats", *registry, "-f", "json").out)

    dtypes = found["evidence"]["dtypes"]
    assert {sum(counts.values()) for counts in dtypes.values()} == {3}
    assert (dtypes["float32"]["numerics"], dtypes["float32"]["untried"]) == (1, 2)
    assert (dtypes["bfloat16"]["lowered"], dtypes["complex64"]["refused"]) == (1, 1)
    assert found["evidence"]["strongest"]["numerics"] == 1
    assert found["evidence"]["strongest"]["registered"] == 2
    assert (found["references"]["own"], found["references"]["torch"]) == (1, 1)
    assert found["references"]["native_without"] == 2
    assert found["verification"] == {
        "refuse_some_calls": 1,
        "disagree_with_eager": 1,
        "draw_random_numbers": 1,
    }
    assert "complex64" in tpu_audit("registry", "stats", *registry).out


def test_diff(tpu_audit: CommandLine, registry: tuple[str, str], tmp_path: Path) -> None:
    """A dtype gained, a dtype lost, a refusal gone and a new reference are each told."""
    dtypes = {**SORT.dtypes, "float16": proofs(), "float32": SORT.dtypes["complex64"]}
    del dtypes["bool"]
    changed = replace(SORT, dtypes=dtypes, refusals=())
    copy = replace(VERIFIED.ops["aten.copy.default"], reference="torch._refs.copy")
    others = [record for op, record in VERIFIED.ops.items() if op not in {SORT.op, copy.op}]
    path = tmp_path / "next.json"
    path.write_bytes(encode(snapshot(changed, copy, *others)))

    ran = tpu_audit("registry", "diff", registry[1], str(path), "-f", "json")
    assert json.loads(ran.out)["evidence"] == [
        {"op": copy.op, "changes": ["reference: none -> torch._refs.copy"]},
        {
            "op": SORT.op,
            "changes": [
                "float32: numerics -> refused",
                "bool: numerics -> untried",
                "float16: untried -> numerics",
                "no longer refuses descending=True at int32: descending: not yet",
            ],
        },
    ]
    text = tpu_audit("registry", "diff", registry[1], str(path))
    assert "float32: numerics -> refused; bool" in text.out
    assert text.err.endswith("0 changed, 2 with other evidence\n")


@pytest.mark.parametrize(
    ("name", "start"), [("m.html", "<!DOCTYPE html>"), ("M.MD", "# torch-tpu 9.9: evidence")]
)
def test_matrix(
    tpu_audit: CommandLine, registry: tuple[str, str], tmp_path: Path, name: str, start: str
) -> None:
    """The suffix chooses the format; the file is named on stderr."""
    path = tmp_path / name
    ran = tpu_audit("registry", "matrix", "-o", str(path), *registry)

    assert (ran.code, ran.out, ran.err) == (0, "", f"note: wrote {path}\n")
    assert path.read_text(encoding="utf-8").startswith(start)


@pytest.mark.parametrize(
    ("name", "says"),
    [("m.pdf", "end the name with .html or .md"), ("no/such/m.md", "there is no folder")],
)
def test_matrix_refuses(tpu_audit: CommandLine, name: str, says: str) -> None:
    """Another suffix, or a place that is not there, is 2 with the way out."""
    ran = tpu_audit("registry", "matrix", "-o", name)
    assert (ran.code, says in ran.err) == (2, True)
