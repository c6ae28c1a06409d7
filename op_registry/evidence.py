"""What verification showed of an op at one dtype, and how a snapshot stores it.

A snapshot holds tens of thousands of these. They stay in their stored form until somebody asks for
one: :func:`of` decodes the evidence of one op at one dtype.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from op_registry.errors import RegistryError

if TYPE_CHECKING:
    from op_registry.schema import OpRecord

DTYPES = ("float32", "bfloat16", "float16", "float64", "int32", "int64", "bool", "complex64")
"""The dtypes that verification covers, in the order in which they are shown."""


def place(dtype: str) -> tuple[int, str]:
    """Return the key that sorts dtypes as they are shown, others behind those of ``DTYPES``."""
    return (DTYPES.index(dtype) if dtype in DTYPES else len(DTYPES), dtype)


class Cause(StrEnum):
    """Why a sample did not pass a step."""

    NOT_IMPLEMENTED = "not_implemented"
    """The backend has no kernel for the op, or for a piece of it."""
    REJECTED = "rejected"
    """A kernel, or the TPU's compiler, refuses this dtype or argument."""
    HOST_SYNC = "host_sync"
    """Needs a value from the device before it can go on."""
    NEEDS_DEVICE = "needs_device"
    """Random numbers and the like: undecidable on a host without a TPU."""
    SKEW = "skew"
    """The tools' versions do not understand each other: says nothing about the op."""
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    VALUES = "values"
    """Ran, and the values differ from eager PyTorch by more than rounding explains."""
    DTYPE = "dtype"
    """Ran, and the result has another dtype than eager PyTorch's."""
    SHAPE = "shape"
    """Ran, and the result has another shape than eager PyTorch's."""
    OTHER = "other"


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One message, and the samples that met it."""

    cause: Cause
    message: str
    samples: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """How many samples passed a step of those that tried it; what the others met."""

    passed: int
    tried: int
    said: tuple[Said, ...] = ()


NOTHING = Tally(passed=0, tried=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class DtypeEvidence:
    """What verification showed of one op at one dtype."""

    lowered: Tally = NOTHING
    """torch_tpu's kernels built StableHLO for the samples."""
    compiled: Mapping[str, Tally] = field(default_factory=dict)
    """Chip -> libtpu compiled that StableHLO."""
    emulated: Mapping[str, str] = field(default_factory=dict)
    """Chip -> what the compiled program emulates (``f64``), for chips where it does."""
    numerics: Tally = NOTHING
    """The StableHLO, run by XLA:CPU, agreed with eager PyTorch."""
    gradient: Tally = NOTHING
    """Forward and backward in one lowered, and where XLA:CPU ran them agreed with eager PyTorch."""
    notes: tuple[str, ...] = ()
    """What was done to get there: a construct rewritten because of version skew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A kernel refuses calls with these arguments, in every sample that had them."""

    message: str
    when: Mapping[str, object]
    """Argument -> value, as in the op's schema; empty: every call at these dtypes."""
    dtypes: tuple[str, ...]
    cause: Cause = Cause.REJECTED


def compute_dtype(dtypes: Iterable[str]) -> str | None:
    """Return the dtype under which a call's evidence is filed, None when no tensor takes part.

    ``dtypes`` are those of the tensor arguments in the schema's order. Complex before floating
    point before integer before bool; among equals the first: an embedding counts by its weight,
    ``where`` by its branches.
    """
    ranked = [(_rank(dtype), -place, dtype) for place, dtype in enumerate(dtypes)]
    return max(ranked)[2] if ranked else None


def _rank(dtype: str) -> int:
    if dtype.startswith("complex"):
        return 3
    if dtype.startswith(("float", "bfloat")):
        return 2
    return 0 if dtype == "bool" else 1


def of(record: OpRecord, dtype: str) -> DtypeEvidence | None:
    """Return what verification showed of ``record`` at ``dtype``, None when it looked at nothing.

    Raises RegistryError when the snapshot holds something else in its place.
    """
    raw = record.dtypes.get(dtype)
    if raw is None:
        return None
    try:
        return decode(raw)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"op {record.op}: evidence of {dtype} is not understood: {error!r}"
        hint = "rebuild the registry with `tpu-audit registry build` and `registry verify`"
        raise RegistryError(message, hint=hint) from error


def encode(evidence: DtypeEvidence) -> dict[str, Any]:
    """Return the stored form: ``{"lowered": "8/8", "compiled": {"v5e v5p": "1/1"}, ...}``.

    Chips with equal entries share one.
    """
    plain: dict[str, Any] = {}
    for name in _TALLIES:
        if (tally := getattr(evidence, name)).tried:
            plain[name] = _encode_tally(tally)
    if evidence.compiled:
        tallies = {chip: _encode_tally(tally) for chip, tally in evidence.compiled.items()}
        plain["compiled"] = _by_chips(tallies)
    if evidence.emulated:
        plain["emulated"] = _by_chips(evidence.emulated)
    if evidence.notes:
        plain["notes"] = sorted(evidence.notes)
    return plain


def decode(raw: Mapping[str, Any]) -> DtypeEvidence:
    """Read the stored form; raises KeyError, TypeError or ValueError when it is something else."""
    return DtypeEvidence(
        **{name: _decode_tally(raw[name]) for name in _TALLIES if name in raw},
        compiled={
            chip: _decode_tally(tally)
            for chips, tally in raw.get("compiled", {}).items()
            for chip in chips.split(" ")
        },
        emulated={
            chip: words
            for chips, words in raw.get("emulated", {}).items()
            for chip in chips.split(" ")
        },
        notes=tuple(raw.get("notes", ())),
    )


def _by_chips(items: Mapping[str, Any]) -> dict[str, Any]:
    chips: dict[str, list[str]] = {}
    for chip in sorted(items):
        chips.setdefault(repr(items[chip]), []).append(chip)
    return {" ".join(same): items[same[0]] for same in chips.values()}


_TALLIES = ("lowered", "numerics", "gradient")


def _encode_tally(tally: Tally) -> str | list[Any]:
    count = f"{tally.passed}/{tally.tried}"
    if not tally.said:
        return count
    said = sorted((item.cause.value, item.message, item.samples) for item in tally.said)
    return [count, *map(list, said)]


def _decode_tally(raw: str | list[Any]) -> Tally:
    if isinstance(raw, str):
        raw = [raw]
    count, *said = raw
    passed, tried = map(int, count.split("/"))
    met = tuple(Said(cause=Cause(c), message=m, samples=int(n)) for c, m, n in said)
    return Tally(passed=passed, tried=tried, said=met)
