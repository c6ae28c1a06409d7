"""A stand-in for the children of a verification: small real programs, answers from a script."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from op_registry.toolchain.answers import Compilation, Outcome
from op_registry.toolchain.programs import digest

ADD = """\
module {
  func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""
MULTIPLY = ADD.replace("stablehlo.add", "stablehlo.multiply")
MOSAIC = """\
module {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @tpu_custom_call(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""
PROGRAMS = {"add": ADD, "multiply": MULTIPLY, "mosaic": MOSAIC}
OK = Compilation(outcome=Outcome.OK).to_json()
AGREES: dict[str, Any] = {
    "outcome": "ok",
    "message": "",
    "cause": "",
    "kind": "",
    "rewritten": [],
}


def sample(index: int, program: str | None = "add", **changes: Any) -> dict[str, Any]:
    """Return the record of a sample that lowered to one of ``PROGRAMS``."""
    record = {
        "index": index,
        "arguments": {"alpha": 1},
        "tensors": {"self": ["float32", [2]], "other": ["float32", [2]]},
        "lowered": True,
        "program": digest(PROGRAMS[program]) if program else None,
        "values": None,
        "flags": [],
        "undefined": [],
        "tolerance": None,
    }
    return record | changes


def values(path: str) -> dict[str, Any]:
    """Return what a record says of its values in the file ``path``."""
    return {"path": path, "inputs": 2, "outputs": 1, "references": 0}


@dataclass(kw_only=True)
class FakeHand:
    """Answers like ``op_registry.verify.hand.Hand``; notes each call as a line of ``log``."""

    script: dict[str, dict[str, list[dict[str, Any]]]]
    """Dtype -> op -> records of samples."""
    log: Path
    gradients: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)
    """The same for forward and backward in one."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Name of a program -> what running it gives, where that is not agreement."""
    variants: list[dict[str, Any]] = field(default_factory=list)
    pause: float = 0.0
    """Seconds that a compilation takes."""

    def lower(self, dtype: str, folder: str, ops: list[str], what: str = "samples") -> None:
        """Write lines, programs and values as the child does."""
        self._note("lower" if what == "samples" else what, dtype)
        place = Path(folder)
        (place / "programs").mkdir(exist_ok=True)
        for text in PROGRAMS.values():
            (place / "programs" / f"{digest(text)}.mlir").write_text(text, encoding="utf-8")
        with (place / f"{what}.{dtype}.jsonl").open("a", encoding="utf-8") as file:
            for op in ops:
                script = self.script if what == "samples" else self.gradients
                records = script.get(dtype, {}).get(op, [])
                self._values(place, records)
                file.write(json.dumps({"op": op, "dtype": dtype, "samples": records}) + "\n")

    def rest(self) -> None:
        """Do nothing: there is no child."""

    def compile(self, program: str, chip: str) -> dict[str, Any]:
        """Say that the program compiles."""
        time.sleep(self.pause)
        self._note("compile", chip, _name(program))
        return {"done": OK}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer what the script says of the program."""
        self._note("run", request["op"], _name(request["program"]))
        return {"done": self.answers.get(_name(request["program"]), AGREES)}

    def vary(self, request: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
        """Answer with the script's variants."""
        self._note("vary", request["op"])
        return self.variants, "" if self.variants else "no variant"

    def kill(self) -> None:
        """Do nothing: there is no child."""

    def close(self) -> None:
        """Do nothing: there is no child."""

    def _values(self, place: Path, records: list[dict[str, Any]]) -> None:
        for record in records:
            if record["values"]:
                path = place / record["values"]["path"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(record["values"]["path"].encode())

    def _note(self, *words: str) -> None:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(" ".join(words) + "\n")

    def calls(self) -> list[str]:
        """Return all calls, sorted, and forget them."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return sorted(lines)


def _name(program: str) -> str:
    by_digest = {digest(text): name for name, text in PROGRAMS.items()}
    return by_digest.get(Path(program).stem, Path(program).stem)
