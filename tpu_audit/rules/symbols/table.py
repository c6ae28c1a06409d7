"""The symbol tables: what each name of ``torch.cuda`` and of ``torch.tpu`` is on a TPU."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from tpu_audit.rules.python.canonical import canonical

_HERE = Path(__file__).parent
_NONE = "none"
_NO_EFFECT = "no effect"


class OnTpu(StrEnum):
    """What a name does in a process on a TPU, where PyTorch has no CUDA."""

    RAISES = "raises"
    """Calling it raises, or entering what it makes."""
    CONSTANT = "constant"
    """It answers as where no device is: false, 0, None, or nothing."""
    NOTHING = "nothing"
    """It runs and changes nothing on the TPU."""
    WORKS = "works"
    """It does there what it does elsewhere."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Symbol:
    """One name of CUDA's, and what stands for it."""

    name: str
    """Where it is defined or documented: ``torch.cuda.empty_cache``."""
    on_tpu: OnTpu
    replacement: str | None
    """The name to use instead; None where there is none, or where none is needed."""
    has_effect: bool
    """False for a setting that may stay: on a TPU it does nothing, and nothing has to be done."""
    reason: str
    """Why, in one or two sentences."""
    rule: str
    """Code of the rule that finds it; empty where the rule for the rest does."""
    since: tuple[int, ...]
    """First release of PyTorch that has it, where that is newer than the oldest supported."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TpuName:
    """One public name of ``torch.tpu``."""

    internal: bool
    """It raises when code outside PyTorch and TorchTPU calls it."""
    replacement: str | None
    """What to call instead of an internal one; None where there is nothing."""


@cache
def cuda_symbols() -> dict[str, Symbol]:
    """Return the table of CUDA's names, by the spelling that `Module.qualified` gives them."""
    found = {}
    for name, entry in _read("torch_cuda.json").items():
        replacement = entry["replacement"]
        found[canonical(name)] = Symbol(
            name=name,
            on_tpu=OnTpu(entry["on_tpu"]),
            replacement=None if replacement in {_NONE, _NO_EFFECT} else replacement,
            has_effect=replacement != _NO_EFFECT,
            reason=entry["reason"],
            rule=entry.get("rule", ""),
            since=tuple(map(int, entry["since"].split("."))) if "since" in entry else (),
        )
    return found


@cache
def tpu_names() -> dict[str, TpuName]:
    """Return the public names of ``torch.tpu``, submodules included, without their prefix."""
    return {
        name: TpuName(internal=entry["internal"], replacement=_named(entry.get("replacement")))
        for name, entry in _read("torch_tpu.json").items()
    }


def names_of(rule: str) -> tuple[str, ...]:
    """Return the names that the rule with this code finds, as `Module.qualified` spells them."""
    return tuple(name for name, symbol in cuda_symbols().items() if symbol.rule == rule)


def _named(replacement: str | None) -> str | None:
    return None if replacement == _NONE else replacement


def _read(filename: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((_HERE / filename).read_text(encoding="utf-8"))
    return table
