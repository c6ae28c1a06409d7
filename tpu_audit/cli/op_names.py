"""From what a person types to op records: ``linear``, ``aten::add``, ``aten.add.Tensor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.cli.suggest import did_you_mean
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from op_registry.schema import OpRecord, Snapshot


def find(snapshot: Snapshot, name: str) -> list[OpRecord]:
    """Return the records that ``name`` means: one overload, or all overloads of an op.

    The namespace may be left out (``aten`` then), ``::`` may stand for the first dot. The list is
    empty when the registry holds no such op.
    """
    wanted = name.strip().removeprefix("torch.ops.").replace("::", ".", 1)
    for candidate in (wanted, f"aten.{wanted}"):
        if record := snapshot.get(candidate):
            return [record]
        if found := [op for op in snapshot.ops if op.rpartition(".")[0] == candidate]:
            return [snapshot.ops[op] for op in sorted(found)]
    return []


def find_or_fail(snapshot: Snapshot, name: str) -> list[OpRecord]:
    """Return the records that ``name`` means; UsageError with near names when there are none."""
    if found := find(snapshot, name):
        return found
    where = f"{snapshot.package} {snapshot.version} for torch {snapshot.torch}"
    hint = did_you_mean(name, op_words(snapshot)) or "`tpu-audit registry list` names all ops"
    raise UsageError(f"the registry of {where} has no op {name!r}", hint=hint)


def op_words(snapshot: Snapshot) -> set[str]:
    """Return the names that a person may type: overloads, ops, and ATen ops without namespace."""
    packets = {op.rpartition(".")[0] for op in snapshot.ops}
    bare = {packet.removeprefix("aten.") for packet in packets if packet.startswith("aten.")}
    return {*snapshot.ops, *packets, *bare}
