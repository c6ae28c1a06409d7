"""What defines each op, written into a snapshot."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from op_registry.codec import decode, encode
from op_registry.reference import stamp as module
from op_registry.reference.declare import Declaration
from op_registry.reference.inexpressible import INEXPRESSIBLE
from op_registry.reference.samples import collect
from op_registry.reference.stamp import Stamp, main, read, stamp, stamped
from op_registry.schema import Support

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import pytest

    from op_registry.build.samples.sample import Sample
    from op_registry.schema import OpRecord, Snapshot

DEADLY = "aten.sin.default"
NOTHING = next(iter(INEXPRESSIBLE))


class Few:
    """Torch's samples of a few ops, without the long way through all test inputs."""

    def __init__(self, ops: Iterable[str], dtypes: Iterable[str]) -> None:
        del dtypes
        made = [Declaration(op=op, function=len, source="", accuracy="") for op in ops]
        self._found = collect(made, ["float32", "int64"])

    def of(self, op: str) -> dict[str, list[Sample]]:
        """Return dtype -> samples of ``op``; one op ends the process."""
        if op == DEADLY:
            os.abort()
        return dict(self._found[op].calls)


def test_stamps_name_and_count() -> None:
    """Each op gets the path of its definition, and by dtype how many samples agree."""
    ops = ["aten.add.Tensor", "aten.trace.default", NOTHING]
    few = Few(ops[:2], ())
    add, trace = (stamp(op, few.of(op)) for op in ops[:2])
    nothing = stamp(ops[2], {})

    assert (add.path, add.failures) == ("torch._refs.add", ())
    assert set(add.checks) == {"float32", "int64"}
    assert all(len(set(counts.split("/"))) == 1 for counts in add.checks.values())
    assert trace.path == "op_registry.reference.kernels.trace.trace"
    assert nothing == Stamp(op=NOTHING, path="")


def test_what_is_missing_is_worked_through_as_lacking(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_record: Callable[..., OpRecord],
    make_snapshot: Callable[..., Snapshot],
) -> None:
    """The snapshot says which ops the backend lacks; a form then names the own kernel."""
    native, missing = "aten.add.Tensor", "aten.mish_.default"
    seen = tmp_path / "seen"

    def note(op: str, calls: dict[str, list[Sample]], *, lacking: bool) -> Stamp:
        calls.clear()
        with seen.open("a", encoding="utf-8") as out:  # stamping runs in a fork
            out.write(f"{op} {lacking}\n")
        return stamp(op, calls, lacking=lacking)

    monkeypatch.setattr(module, "Calls", Few)
    monkeypatch.setattr(module, "stamp", note)
    path = tmp_path / "snapshot.json"
    records = (make_record(native), make_record(missing, support=Support.MISSING))
    path.write_bytes(encode(make_snapshot(*records)))

    assert main([str(path), "--journal", str(tmp_path / "journal")]) == 0
    assert set(seen.read_text(encoding="utf-8").splitlines()) == {
        f"{native} False",
        f"{missing} True",
    }
    done = decode(path.read_bytes(), origin="the snapshot").ops
    assert done[missing].reference == "op_registry.reference.kernels.activations.mish"


def test_a_snapshot_takes_stamps(
    make_record: Callable[..., OpRecord], make_snapshot: Callable[..., Snapshot]
) -> None:
    """Path and counts go into the record, or why there are none; other records stay."""
    ops = ("aten.add.Tensor", NOTHING, "aten.mul.Tensor")
    snapshot = make_snapshot(*(make_record(op) for op in ops))
    found = {
        ops[0]: Stamp(op=ops[0], path="torch._refs.add", checks={"float32": "8/8"}),
        NOTHING: Stamp(op=NOTHING, path=""),
    }
    add, nothing, mul = (stamped(snapshot, found).ops[op] for op in ops)

    assert (add.reference, add.reference_checks) == ("torch._refs.add", {"float32": "8/8"})
    assert (nothing.reference, nothing.reference_note) == (None, INEXPRESSIBLE[NOTHING])
    assert mul == snapshot.ops[ops[2]]


def test_a_missing_op_takes_the_note_of_its_family(
    make_record: Callable[..., OpRecord], make_snapshot: Callable[..., Snapshot]
) -> None:
    """Without a definition, an op that is missing says what its whole family cannot."""
    op = "quantized.linear.default"
    snapshot = make_snapshot(make_record(op, support=Support.MISSING))
    made = stamped(snapshot, {op: Stamp(op=op, path="")}).ops[op]
    assert "quantised dtypes" in made.reference_note


def test_an_interrupted_run_goes_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    make_record: Callable[..., OpRecord],
    make_snapshot: Callable[..., Snapshot],
) -> None:
    """Ops in the journal are not compared again; half a line at its end is; a crash costs one."""
    monkeypatch.setattr(module, "Calls", Few)
    path, journal = tmp_path / "snapshot.json", tmp_path / "journal"
    ops = ("aten.add.Tensor", "aten.mul.Tensor", DEADLY)
    path.write_bytes(encode(make_snapshot(*(make_record(op) for op in ops))))
    old = {"op": ops[0], "path": "known", "checks": {}, "failures": []}
    journal.write_text(json.dumps(old) + "\n" + '{"op": "aten.mu', encoding="utf-8")

    assert main([str(path), "--journal", str(journal)]) == 0
    assert "3 ops: 2 are defined, 1 of these agree" in capsys.readouterr().out
    assert set(read(journal)) == set(ops)
    done = decode(path.read_bytes(), origin="the snapshot").ops
    assert [done[op].reference for op in ops] == ["known", "torch._refs.mul", None]


def test_no_such_snapshot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that cannot be read is an error on one line."""
    assert main([str(tmp_path / "none.json"), "--journal", str(tmp_path / "j")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
