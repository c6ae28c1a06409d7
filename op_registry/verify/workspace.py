"""The folder in which a verification keeps its work, apart for each set of versions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from op_registry.errors import RegistryError
from op_registry.verify.facts import Found, LoweredSample
from op_registry.verify.journal import Journal
from op_registry.verify.tools import NEEDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from op_registry.verify.facts import Values


class Workspace:
    """Where samples, programs, values and the journal lie.

    ``work`` holds a folder for each set of ``versions``; in it, lowered samples lie apart for each
    signature of the code that lowers. Raises RegistryError when it cannot be made.
    """

    def __init__(
        self, work: Path, versions: Mapping[str, str], signatures: Mapping[str, str]
    ) -> None:
        self.folder = work / "_".join(f"{name}-{versions[name]}" for name in NEEDED)
        self.samples = self.folder / f"samples-{signatures['lower']}"
        self._counted: dict[str, tuple[int, int]] = {}
        self.notes: list[str] = []
        """What a person should know of earlier work."""
        self._look_around(work)
        try:
            self.samples.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"cannot make the folder {str(self.samples)!r}: {error.strerror}"
            raise RegistryError(message, hint="name another one with --work-dir") from error
        later = {stage: sign for stage, sign in signatures.items() if stage != "lower"}
        self.journal = Journal(self.folder / "journal.jsonl", later)
        for stage, lines in sorted(self.journal.outdated.items()):
            self.notes.append(f"{lines} results of stage {stage} come from other code: made again")

    def found(self, dtype: str, what: str = "samples") -> Iterator[Found]:
        """Yield what lowering showed of each op at ``dtype``, in the order of their names."""
        for line in self.lines(dtype, what):
            samples = tuple(map(LoweredSample.from_json, line["samples"]))
            yield Found(op=line["op"], dtype=dtype, samples=samples)

    def lines(self, dtype: str, what: str = "samples") -> Iterator[dict[str, Any]]:
        """Yield the whole lines of the file of ``dtype``; a torn one may end it."""
        path = self._file(dtype, what)
        if not path.exists():
            return
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield json.loads(line)

    def unseen(self, dtype: str, ops: Iterable[str], what: str = "samples") -> list[str]:
        """Return those of ``ops`` that have no line at ``dtype``."""
        known = {line["op"] for line in self.lines(dtype, what)}
        return [op for op in ops if op not in known]

    def lowered(self, dtype: str) -> int:
        """Return how many ops have a line at ``dtype``; reads only what is new since last time."""
        lines, offset = self._counted.get(dtype, (0, 0))
        path = self._file(dtype, "samples")
        if path.exists():
            with path.open("rb") as file:
                file.seek(offset)
                fresh = file.read()
            lines, offset = lines + fresh.count(b"\n"), offset + len(fresh)
        self._counted[dtype] = (lines, offset)
        return lines

    def program(self, digest: str) -> Path:
        """Return the file of a program."""
        return self.samples / "programs" / f"{digest}.mlir"

    def text(self, digest: str) -> str:
        """Return the StableHLO of a program."""
        return self.program(digest).read_text(encoding="utf-8")

    def values(self, values: Values) -> Path:
        """Return the file of a sample's values."""
        return self.samples / values.path

    def _file(self, dtype: str, what: str) -> Path:
        return self.samples / f"{what}.{dtype}.jsonl"

    def _look_around(self, work: Path) -> None:
        if self.folder.exists():
            if not self.samples.exists():
                self.notes.append("the code that lowers samples has changed: they are made again")
            return
        others = sorted(path.name for path in work.glob("*torch-tpu-*") if path.is_dir())
        if others:
            self.notes.append(
                f"{str(work)!r} holds work with other versions ({', '.join(others)}): "
                "this one starts afresh and leaves it alone"
            )
