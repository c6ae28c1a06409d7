"""Listens to Dynamo: where it stops and why.

torch has no public way to learn of a break whose graph is empty, or of a function left to Python,
so the method that logs breaks is listened to. It is there in torch 2.11 to 2.14.
"""

from __future__ import annotations

import logging
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch._dynamo import symbolic_convert

from tpu_audit.types.compiled import BreakKind, GraphBreak
from tpu_audit.types.errors import TpuAuditError
from tpu_audit.types.trace import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from tpu_audit.trace.compiling.places import GraphPlaces

_DATA = re.compile(
    r"data.depend|\.item\(\)|tolist|dynamic shape|dynamic slicing|non-scalar tensor"
    r"|data-dependent|unbacked|symbolic shapes|guard_scalar",
    re.IGNORECASE,
)
_LIMIT = "torch._dynamo hit config."
_LIMIT_REASON = "Dynamo recompile limit exceeded"
_LEFT = "Skipping the function and falling back to eager"
_EXPLANATION = re.compile(
    r"^\s*Explanation: (.*?)(?:\n\s*(?:Hint:|Developer debug)|\n\s*\n|\Z)", re.DOTALL | re.MULTILINE
)
_FUNCTION = re.compile(r"'(?P<name>[^']*)' \((?P<path>.*):(?P<line>\d+)\)")
_Key = tuple[str, SourceLine | None, str | None]


@dataclass(slots=True)
class _Seen:
    detail: str
    kind: BreakKind
    module: str | None
    count: int = 0
    eager: bool = False


class Watch:
    """Collects breaks while it listens."""

    def __init__(self, places: GraphPlaces) -> None:
        self._places = places
        self._seen: dict[_Key, _Seen] = {}

    def breaks(self) -> tuple[GraphBreak, ...]:
        """Return the breaks by place and reason, in order of first appearance."""
        return tuple(
            GraphBreak(
                reason=reason,
                detail=seen.detail,
                kind=seen.kind,
                source=source,
                module=seen.module,
                count=seen.count,
                eager=seen.eager,
            )
            for (reason, source, _), seen in self._seen.items()
        )

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen for a while. Raises TpuAuditError when this torch is built otherwise."""
        owner: Any = symbolic_convert.InstructionTranslatorBase
        original = getattr(owner, "log_graph_break", None)
        if original is None:
            raise TpuAuditError(
                f"torch {torch.__version__} does not tell of graph breaks as known",
                hint="scan without --compile, or install torch 2.13",
            )

        def listen(translator: Any, code_options: Any, reason: str, exc: Any) -> None:
            if not exc.logged:
                self._stopped(translator, reason, exc)
            original(translator, code_options, reason, exc)

        owner.log_graph_break = listen
        limits = _Limits(self)
        logger = logging.getLogger("torch._dynamo.convert_frame")
        logger.addHandler(limits)
        try:
            yield
        finally:
            logger.removeHandler(limits)
            owner.log_graph_break = original

    def _stopped(self, translator: Any, reason: str, exc: Any) -> None:
        stack = getattr(exc, "real_stack", None) or torch._guards.TracingContext.extract_stack()
        frames = [(frame.filename, frame.lineno or 0) for frame in stack]
        source = self._places.innermost([*_callers(), *frames])
        here = dict(getattr(translator, "f_locals", {})).get("self")
        # An inlined callee's own module is not known here: the callee stops again by itself later.
        module = self._places.holder(here) if len(frames) <= 1 else None
        name, detail = _words(str(exc))
        kind = BreakKind.DATA if _DATA.search(name) else BreakKind.PYTHON
        seen = self._add(name, source, detail, kind)
        seen.module = seen.module if seen.module is not None else module
        seen.eager |= _LEFT in reason and len(frames) <= 1

    def limit(self, function: str, last: str) -> None:
        """Take down a function that was compiled too often."""
        found = _FUNCTION.search(function)
        source = None
        if found:
            source = self._places.innermost([(found["path"], int(found["line"]))])
        name = found["name"] if found else function
        detail = f"{name}() was compiled for too many different arguments; the last: {guard(last)}"
        self._add(_LIMIT_REASON, source, detail, BreakKind.LIMIT).eager = True

    def _add(self, reason: str, source: SourceLine | None, detail: str, kind: BreakKind) -> _Seen:
        key = (reason, source, None if source else detail)
        seen = self._seen.setdefault(key, _Seen(detail=detail, kind=kind, module=None))
        seen.count += 1
        return seen


def _callers() -> list[tuple[str, int]]:
    """Return the files and lines on Python's stack: who called the function being compiled."""
    frame: FrameType | None = sys._getframe(1)
    found = []
    while frame is not None:
        found.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return found[::-1]


class _Limits(logging.Handler):
    """Hears of functions that Dynamo gives up on."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(logging.WARNING)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        """Take one message of Dynamo's."""
        if str(record.msg).startswith(_LIMIT) and isinstance(record.args, tuple):
            self._watch.limit(str(record.args[2]), str(record.args[3]))


def _words(text: str) -> tuple[str, str]:
    """Return the name and the explanation of the obstacle, one line each."""
    name = text.strip().partition("\n")[0].strip()
    found = _EXPLANATION.search(text)
    detail = " ".join((found[1] if found else name).split())
    return name, detail


def guard(reason: str) -> str:
    """Return the failed condition of a recompilation: one line, without ids and comments."""
    line = reason.strip().partition("\n")[0].partition("  #")[0].strip().removeprefix("- ")
    line = re.sub(r"^\d+/\d+: ", "", line)
    return re.sub(r"___stack\d+", "the interrupted expression", line)
