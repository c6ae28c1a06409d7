"""Records that are built when somebody asks for them: a scan asks for a few of thousands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from op_registry.schema import OpRecord

Builder = Callable[[str, Any], "OpRecord"]


class Records(Mapping[str, "OpRecord"]):
    """Op -> record, over plain JSON; ``build`` makes a record from an op's name and its JSON."""

    def __init__(self, plain: Mapping[str, Any], build: Builder) -> None:
        self._plain = plain
        self._build = build
        self._built: dict[str, OpRecord] = {}

    def __getitem__(self, op: str) -> OpRecord:
        """Return the record of ``op``, the same object each time. Raises KeyError."""
        found = self._built.get(op)
        if found is None:
            found = self._built[op] = self._build(op, self._plain[op])
        return found

    def __contains__(self, op: object) -> bool:
        """Tell whether there is a record of ``op``, without building it."""
        return op in self._plain

    def __iter__(self) -> Iterator[str]:
        """Yield the ops in the order of the file."""
        return iter(self._plain)

    def __len__(self) -> int:
        """Count the ops."""
        return len(self._plain)
