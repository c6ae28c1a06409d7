"""Where in the model a node of a graph, or a place where Dynamo stopped, comes from."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch import nn

from tpu_audit.trace.places import Places
from tpu_audit.types.trace import Role, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_SELF = re.compile(r"L\['(?:self'\]|args'\]\[0\])(.*)")
_PATH = re.compile(r"\['?([^'\]]*)'?\]")


class GraphPlaces(Places):
    """Places without a call stack: Dynamo ran the Python code before, and wrote down where."""

    def __init__(self, model: nn.Module, own: str | None = None) -> None:
        super().__init__(own)
        self._names = {module: name for name, module in model.named_modules()}
        self._module = ""
        self._source: SourceLine | None = None

    @property
    def module(self) -> str:
        """Path of the module that the running node comes from."""
        return self._module

    @property
    def role(self) -> Role:
        """Graphs are the model's."""
        return Role.MODEL

    def source(self) -> SourceLine | None:
        """Line of the model's code that the running node comes from."""
        return self._source

    @contextmanager
    def at(self, root: str, modules: Mapping[str, Any] | None, stack: str | None) -> Iterator[None]:
        """Be, for a while, where a node's metadata says it comes from.

        ``root`` is the path of the module whose forward was compiled; Dynamo names those below it
        from there on.
        """
        inner = _SELF.match([*modules.values()][-1][0]) if modules else None
        self._module = ".".join(filter(None, (root, _path(inner[1]) if inner else "")))
        frames = [(path, int(line)) for path, line in _FRAME.findall(stack or "")]
        self._source = self.innermost(frames)
        try:
            yield
        finally:
            self._module, self._source = "", None

    def innermost(self, frames: Iterable[tuple[str, int]]) -> SourceLine | None:
        """Return the last of ``frames`` in the model's own files, else in its library."""
        found: dict[int, SourceLine] = {}
        for filename, line in frames:
            rank, path = self._classify(filename)
            if rank:
                found[rank] = SourceLine(path=path, line=line)
        return found[max(found)] if found else None

    def holder(self, here: object) -> str | None:
        """Return the path of ``here`` if it is a module of the model, else of the nearest caller's.

        The callers are those on Python's stack now: what Dynamo compiles is called by real frames.
        """
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if isinstance(here, nn.Module) and here in self._names:
                return str(self._names[here])
            here, frame = frame.f_locals.get("self"), frame.f_back
        return None


def _path(written: str) -> str:
    """Turn Dynamo's ``.layers._modules['0'].mlp`` into ``layers.0.mlp``."""
    return _PATH.sub(r".\1", written.replace("._modules", "")).strip(".")
