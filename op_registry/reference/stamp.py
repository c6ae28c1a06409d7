"""Compares the definition of every op with eager PyTorch and writes that into a snapshot.

``python -m op_registry.reference.stamp SNAPSHOT --journal FILE``: what the journal holds is done,
so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.forks import in_fork
from op_registry.build.table import overload_of, read_table
from op_registry.codec import decode, encode
from op_registry.evidence import DTYPES
from op_registry.reference.declare import declared
from op_registry.reference.inexpressible import inexpressible
from op_registry.reference.proof import prove
from op_registry.reference.samples import collect
from op_registry.schema import Support
from op_registry.verify.cases import Cases

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from op_registry.build.samples.sample import Sample
    from op_registry.schema import OpRecord, Snapshot

_HANG_SECONDS = 60
_CRASHED = "its samples crash or hang the process"
_MOST_FAILURES = 3
"""Kept of one op."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stamp:
    """What defines one op, and on how many samples it agrees with eager PyTorch."""

    op: str
    path: str
    """Empty: nothing defines it."""
    checks: Mapping[str, str] = field(default_factory=dict)
    """Dtype -> ``12/12``."""
    failures: tuple[str, ...] = ()
    """The first messages of samples that disagree."""


def stamp(op: str, calls: Mapping[str, list[Sample]], *, lacking: bool = False) -> Stamp:
    """Return what defines ``op``, and on how many of its samples by dtype that agrees.

    ``lacking``: the backend has no kernel for the op or for what it ends in.
    """
    proof = prove(op, dict(calls), lacking=lacking)
    if proof is None:
        return Stamp(op=op, path="")
    return Stamp(
        op=op,
        path=proof.reference.path,
        checks=proof.checks,
        failures=proof.failures[:_MOST_FAILURES],
    )


def work_through(ops: list[str], calls: Calls, journal: Path, lacking: Collection[str]) -> None:
    """Stamp ``ops`` into ``journal``, past those whose samples crash or hang the process.

    The backend is ``lacking`` some of them.
    """
    todo = ops
    while todo:
        in_fork(partial(_stretch, todo, calls, journal, lacking))
        done = read(journal)
        left = [op for op in todo if op not in done]
        if left:
            # The first without a stamp is the one that ended the fork.
            _note(journal, Stamp(op=left[0], path="", failures=(_CRASHED,)))
        todo = left[1:]


def _stretch(todo: Iterable[str], calls: Calls, journal: Path, lacking: Collection[str]) -> None:
    standard_error = 2  # the descriptor: whatever stands in for sys.stderr may have none
    for op in todo:
        faulthandler.dump_traceback_later(_HANG_SECONDS, exit=True, file=standard_error)
        _note(journal, stamp(op, calls.of(op), lacking=op in lacking))
    faulthandler.cancel_dump_traceback_later()


def _note(journal: Path, made: Stamp) -> None:
    with journal.open("a", encoding="utf-8") as out:
        out.write(json.dumps(asdict(made)) + "\n")


class Calls:
    """Samples of ops: those of the kernels' own checks, else those of verification.

    Making it takes a minute for each dtype: it runs torch's own test inputs.
    """

    def __init__(self, ops: Iterable[str], dtypes: Iterable[str] = DTYPES) -> None:
        names, kernels = list(dtypes), declared()
        wanted = [kernels[op] for op in ops if op in kernels]
        self._own = {op: found.calls for op, found in collect(wanted, names).items()}
        table = read_table()
        self._cases = {name: Cases(table, name) for name in names}

    def of(self, op: str) -> dict[str, list[Sample]]:
        """Return dtype -> samples of ``op``."""
        if op in self._own:
            return dict(self._own[op])
        func = overload_of(op)
        if func is None:
            return {}
        made = {name: cases.samples(op, func) for name, cases in self._cases.items()}
        return {name: list(samples) for name, samples in made.items() if samples}


def stamped(snapshot: Snapshot, found: Mapping[str, Stamp]) -> Snapshot:
    """Return ``snapshot`` with what ``found`` says; ops that it leaves out stay as they are."""
    ops = {op: _with(record, found.get(op)) for op, record in snapshot.ops.items()}
    return replace(snapshot, ops=ops, digest="")


def _with(record: OpRecord, stamp: Stamp | None) -> OpRecord:
    if stamp is None:
        return record
    note = inexpressible(record.op, lacking=record.support is Support.MISSING)
    return replace(
        record,
        reference=stamp.path or None,
        reference_checks=dict(stamp.checks),
        reference_note="" if stamp.path else note,
    )


def read(journal: Path) -> dict[str, Stamp]:
    """Return the stamps of a journal by op; empty when there is none yet."""
    if not journal.exists():
        return {}
    found = {}
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            raw: dict[str, Any] = json.loads(line)
        except ValueError:  # the last line of a run that was killed
            continue
        stamp = Stamp(**(raw | {"failures": tuple(raw["failures"])}))
        found[stamp.op] = stamp
    return found


def main(arguments: list[str] | None = None) -> int:
    """Stamp a snapshot file in place; return 2 when it cannot be read."""
    options = _parser().parse_args(arguments)
    path, journal = Path(options.snapshot), Path(options.journal)
    try:
        snapshot = decode(path.read_bytes(), origin=f"registry {options.snapshot!r}")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    done = read(journal)
    todo = [op for op in snapshot.ops if op not in done]
    with journal.open("a", encoding="utf-8") as out:
        out.write("\n")  # ends what a killed run left
    if todo:
        torch.set_num_threads(1)  # threads of a pool do not survive a fork
        work_through(todo, Calls(todo, options.dtype or DTYPES), journal, _lacking(snapshot))
    found = read(journal)
    path.write_bytes(encode(stamped(snapshot, found)))
    sys.stdout.write(_told(found))
    return 0


def _lacking(snapshot: Snapshot) -> frozenset[str]:
    return frozenset(op for op, rec in snapshot.ops.items() if rec.support is Support.MISSING)


def _told(found: Mapping[str, Stamp]) -> str:
    named = [stamp for stamp in found.values() if stamp.path]
    proven = [stamp for stamp in named if stamp.checks and not stamp.failures]
    partly = [stamp for stamp in named if stamp.failures]
    rest = len(named) - len(proven) - len(partly)
    return (
        f"{len(found)} ops: {len(named)} are defined, {len(proven)} of these agree with eager "
        f"PyTorch on every sample, {len(partly)} not on all, {rest} have no samples\n"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m op_registry.reference.stamp")
    parser.description = "Write what defines each op, and whether that agrees, into a snapshot."
    parser.add_argument("snapshot", help="snapshot file (.json), changed in place")
    parser.add_argument("--journal", required=True, help="file that keeps what is done")
    parser.add_argument("--dtype", action="append", choices=DTYPES, help="only this; repeatable")
    return parser


if __name__ == "__main__":
    sys.exit(main())
