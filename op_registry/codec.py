"""The snapshot's file format: canonical JSON, one op a line, so that two of them diff well.

Written by hand over the standard library: the builder's child runs where only torch is sure to be
installed, and a cached scan has no time for a schema library.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from op_registry.errors import RegistryError
from op_registry.evidence import Cause, Refusal, place
from op_registry.records import Records
from op_registry.schema import (
    SNAPSHOT_SCHEMA,
    AutocastPolicy,
    EndsIn,
    Evidence,
    EvidenceKind,
    Fallback,
    Hazard,
    OpRecord,
    Resolution,
    Snapshot,
    Support,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Reader = Callable[[Any], Any]

E = TypeVar("E", bound=StrEnum)
_REBUILD = "rebuild it with `tpu-audit registry build`"


def encode(snapshot: Snapshot) -> bytes:
    """Return the canonical bytes of ``snapshot``: sorted, defaults left out, one op a line."""
    head = {
        f.name: getattr(snapshot, f.name)
        for f in fields(snapshot)
        if f.name not in {"ops", "digest"}
    }
    lines = [f"{_dump(name)}: {_dump(value)}," for name, value in sorted(head.items())]
    ops = [f"{_dump(op)}: {_dump(_plain(snapshot.ops[op]))}" for op in sorted(snapshot.ops)]
    body = ",\n".join(ops)
    return ("{\n" + "\n".join(lines) + '\n"ops": {\n' + body + "\n}\n}\n").encode()


def decode(data: bytes, *, origin: str, canonical: bool = False) -> Snapshot:
    """Read and check a snapshot; ``origin`` names it in errors (RegistryError).

    ``canonical`` promises that ``data`` came out of ``encode`` as it is: it is not encoded again
    for the digest, and an op's record is read when it is asked for.
    """
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"{origin}: not a registry snapshot, the JSON is broken or cut off: {error}"
        raise RegistryError(message, hint=_REBUILD) from error
    if not isinstance(raw, dict) or "schema" not in raw:
        raise RegistryError(f"{origin}: not a registry snapshot: no `schema` field", hint=_REBUILD)
    if raw["schema"] != SNAPSHOT_SCHEMA:
        message = f"{origin}: schema {raw['schema']!r}, this version reads {SNAPSHOT_SCHEMA!r}"
        raise RegistryError(message, hint=_REBUILD)
    try:
        snapshot = _snapshot(raw, lazy=canonical)
    except _FormatError as error:
        raise RegistryError(f"{origin}: {error}", hint=_REBUILD) from error
    content = data if canonical else encode(snapshot)
    return replace(snapshot, digest=hashlib.sha256(content).hexdigest())


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _plain(record: OpRecord) -> dict[str, object]:
    """Return the fields of ``record`` that differ from their defaults; the op's name is the key."""
    plain = {n: getattr(record, n) for n in _RECORD if getattr(record, n) != _DEFAULTS.get(n)}
    if record.evidence:
        plain["evidence"] = [
            {f.name: v for f in fields(e) if (v := getattr(e, f.name)) is not None}
            for e in record.evidence
        ]
    if record.dtypes:
        plain["dtypes"] = _grouped(record.dtypes)
    if record.refusals:
        plain["refusals"] = [
            {f.name: getattr(r, f.name) for f in fields(r)} for r in record.refusals
        ]
    return plain


def _grouped(items: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``items`` with equal values under one key, their keys joined by spaces."""
    keys: dict[str, list[str]] = {}
    for key, value in items.items():
        keys.setdefault(_dump(value), []).append(key)
    return {" ".join(same): items[same[0]] for same in keys.values()}


class _FormatError(Exception):
    """What is wrong at which place, the file's name still to be added."""


def _snapshot(raw: Mapping[str, Any], *, lazy: bool) -> Snapshot:
    head = {name: value for name, value in raw.items() if name != "ops"}
    values = _read(head, _HEADER, "header")
    ops = raw.get("ops")
    if not isinstance(ops, dict):
        raise _FormatError("field `ops` must be an object of op records")
    if lazy:
        return Snapshot(ops=Records(ops, _record), **values)
    return Snapshot(ops={op: _record(op, plain) for op, plain in ops.items()}, **values)


def _record(op: str, plain: Any) -> OpRecord:
    return OpRecord(op=op, **_read(plain, _RECORD, f"op {op}"))


def _read(raw: object, readers: Mapping[str, Reader], where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise _FormatError(f"{where}: must be an object, not {type(raw).__name__}")
    values = {}
    for name, value in raw.items():
        reader = readers.get(name)
        if reader is None:
            raise _FormatError(f"{where}: unknown field `{name}`")
        try:
            values[name] = reader(value)
        except (TypeError, ValueError, AttributeError, _FormatError) as error:
            raise _FormatError(f"{where}: field `{name}`: {error}") from error
    if absent := [n for n in readers if n not in values and n not in _DEFAULTS]:
        raise _FormatError(f"{where}: field `{absent[0]}` is missing")
    return values


def _text(value: object) -> str:
    if type(value) is not str:
        raise TypeError(f"must be a string, not {type(value).__name__}")
    return value


def _flag(value: object) -> bool:
    if type(value) is not bool:
        raise TypeError(f"must be true or false, not {type(value).__name__}")
    return value


def _names(value: object) -> tuple[str, ...]:
    if type(value) is not list:
        raise TypeError(f"must be a list, not {type(value).__name__}")
    return tuple(map(_text, value))


def _one_of(enum: type[E]) -> Callable[[Any], E]:
    members: dict[Any, E] = {member.value: member for member in enum}

    def read(value: object) -> E:
        member = members.get(value) if type(value) is str else None
        if member is None:
            raise ValueError(f"{value!r} is not one of {', '.join(members)}")
        return member

    return read


def _mapping(key: Callable[[Any], Any]) -> Reader:
    return lambda value: {key(name): _text(text) for name, text in value.items()}


_EVIDENCE: dict[str, Reader] = {"kind": _one_of(EvidenceKind), "detail": _text, "chip": _text}


def _evidence(value: object) -> tuple[Evidence, ...]:
    if type(value) is not list:
        raise TypeError(f"must be a list, not {type(value).__name__}")
    return tuple(Evidence(**_read(item, _EVIDENCE, "evidence")) for item in value)


def _refusals(value: object) -> tuple[Refusal, ...]:
    if type(value) is not list:
        raise TypeError(f"must be a list, not {type(value).__name__}")
    return tuple(Refusal(**_read(item, _REFUSAL, "refusal")) for item in value)


def _object(value: object) -> dict[str, Any]:
    if type(value) is not dict:
        raise TypeError(f"must be an object, not {type(value).__name__}")
    return value


def _by_dtype(value: object) -> dict[str, dict[str, Any]]:
    """Undo ``_grouped``; the dtypes come in the order in which they are shown."""
    found = {
        name: _object(item) for names, item in _object(value).items() for name in names.split(" ")
    }
    return {name: found[name] for name in sorted(found, key=place)}


_REFUSAL: dict[str, Reader] = {
    "message": _text,
    "when": _object,
    "dtypes": _names,
    "cause": _one_of(Cause),
}
_HEADER: dict[str, Reader] = {
    "schema": _text,
    "backend": _text,
    "package": _text,
    "version": _text,
    "torch": _text,
    "versions": _mapping(_text),
    "record_sha256": _text,
}
_RECORD: dict[str, Reader] = {
    "schema": _text,
    "privateuse1": _one_of(Resolution),
    "autograd": _one_of(Resolution),
    "autocast": _one_of(Resolution),
    "support": _one_of(Support),
    "reason": _text,
    "autocast_policy": _one_of(AutocastPolicy),
    "structured_delegate": _text,
    "ends_in": _names,
    "ends_in_how": _one_of(EndsIn),
    "cpu_kernel": _flag,
    "cuda_kernel": _flag,
    "has_derivative": _flag,
    "composite_implicit": _flag,
    "eager_gradient": _flag,
    "hazards": _mapping(_one_of(Hazard)),
    "fallback": _one_of(Fallback),
    "evidence": _evidence,
    "reference": _text,
    "reference_checks": _mapping(_text),
    "reference_note": _text,
    "random": _flag,
    "dtypes": _by_dtype,
    "refusals": _refusals,
}
_DEFAULTS: dict[str, object] = {
    "autocast_policy": None,
    "structured_delegate": None,
    "ends_in": None,
    "ends_in_how": None,
    "cpu_kernel": False,
    "cuda_kernel": False,
    "has_derivative": False,
    "composite_implicit": False,
    "eager_gradient": False,
    "hazards": {},
    "fallback": None,
    "evidence": (),
    "reference": None,
    "reference_checks": {},
    "reference_note": "",
    "random": False,
    "dtypes": {},
    "refusals": (),
    "chip": None,
}
