"""What the compiling and the running child answer, typed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self


class Outcome(StrEnum):
    """What came of a program."""

    OK = "ok"
    REFUSED = "refused"
    """The compiler says no: a fact about the program."""
    SKEW = "skew"
    """The versions at hand do not fit together: no fact about the program."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """Bytes of HBM of one device: arguments + outputs + temporaries - aliases are used at once."""

    arguments: int
    outputs: int
    temporaries: int
    aliases: int
    code: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Compilation:
    """The answer of ``op_registry.toolchain.compiler``.

    All but ``outcome``, ``message`` and ``rewritten`` describe the compiled program, and are None
    or empty without one.
    """

    outcome: Outcome
    message: str | None = None
    """The compiler's, first lines, when the outcome is not ``ok``."""
    rewritten: tuple[str, ...] = ()
    """What was changed in the program before it was compiled, in words."""
    memory: Memory | None = None
    flops: float | None = None
    """As the compiler counts; None where it does not, as for a Mosaic kernel."""
    bytes_accessed: float | None = None
    """Between HBM and on-chip memory, copies ahead of use included: more than the least needed."""
    optimal_seconds: float | None = None
    """The compiler's roofline of the instructions it can estimate.

    Where others are left out, it is exact to 1e-7 s only.
    """
    unestimated: int = 0
    """Instructions that ``optimal_seconds`` leaves out."""
    operations: int | None = None
    """Operations of the program that was given to the compiler, constants left out."""
    instructions: int | None = None
    """Instructions of the optimised HLO; None when this jaxlib cannot read libtpu's."""
    emulation: tuple[str, ...] = ()
    """Element types that the chip does not compute in, and what it computes in instead."""
    custom_calls: tuple[str, ...] = ()
    """Targets of the custom calls in the optimised HLO, but for those that split 64-bit types."""

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, answer: dict[str, Any]) -> Self:
        """Return the answer that ``to_json`` made JSON of."""
        memory = answer["memory"]
        lists = {key: tuple(answer[key]) for key in ("rewritten", "emulation", "custom_calls")}
        return cls(
            **(answer | lists | {"outcome": Outcome(answer["outcome"])})
            | {"memory": Memory(**memory) if memory else None}
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """The answer of ``op_registry.toolchain.runner``."""

    outcome: Outcome
    message: str | None = None
    """XLA:CPU's, first lines, when the outcome is not ``ok``."""
    rewritten: tuple[str, ...] = ()
    """What was changed in the program before it ran, in words."""
    dtypes: tuple[str, ...] = ()
    """Of the outputs, in torch's names."""
    shapes: tuple[tuple[int, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, answer: dict[str, Any]) -> Self:
        """Return the answer that ``to_json`` made JSON of."""
        return cls(
            outcome=Outcome(answer["outcome"]),
            message=answer["message"],
            rewritten=tuple(answer["rewritten"]),
            dtypes=tuple(answer["dtypes"]),
            shapes=tuple(tuple(shape) for shape in answer["shapes"]),
        )
