"""Where in the model a call comes from: module path and source line."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

from tpu_audit.types.trace import Role, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

    from torch import nn

    from tpu_audit.trace.tape import Place, Tape

_PACKAGES = ("transformers", "diffusers", "timm", "peft", "tpu_audit/trace/libraries")
"""Packages whose lines are named, by their path below site-packages."""
_MODELS = ("/models/", "peft/tuners/", "diffusers/pipelines/", "/libraries/")
"""Where in them the code of models stands."""
_MODEL = 2
_LIBRARY = 1
_OTHER = 0


class Places:
    """The stack of modules in flight, and the lines of model code above a call."""

    def __init__(self, own: str | None = None) -> None:
        """``own`` is the folder whose files are the model's, besides those of transformers."""
        self._own = own.rstrip("/") + "/" if own else None
        self.tape: Tape | None = None
        """Where autograd's nodes are made, while a model trains."""
        self._stack: list[str] = []
        self._kinds: dict[CodeType, tuple[int, str]] = {}

    @contextmanager
    def follow(self, model: nn.Module) -> Iterator[None]:
        """Keep the module stack while ``model`` runs."""
        names = {module: name for name, module in model.named_modules()}

        def enter(module: nn.Module, _args: Any) -> None:
            self._mark()
            self._stack.append(names.get(module, type(module).__name__))

        def leave(_module: nn.Module, _args: Any, _out: Any) -> None:
            self._mark()
            if self._stack:
                self._stack.pop()

        handles = (
            register_module_forward_pre_hook(enter),
            register_module_forward_hook(leave, always_call=True),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
            self._stack.clear()

    @contextmanager
    def within(self, path: str = "") -> Iterator[None]:
        """Count what runs inside as of the module at ``path``: a method that is not its forward."""
        self._stack.append(path)
        try:
            yield
        finally:
            if self._stack:
                self._stack.pop()

    def _mark(self) -> None:
        if self.tape is not None:
            self.tape.mark(self.module)

    def place(self, role: Role) -> Place:
        """Return the module and the line that a call comes from.

        In the backward pass those of the forward call that it belongs to, except where a module
        runs once more to recompute its activations.
        """
        if role is Role.BACKWARD and not self._stack and self.tape is not None:
            return self.tape.current()
        source = self.source()
        if self.tape is not None:
            self.tape.mark(self.module, source)
        return self.module, source

    @property
    def module(self) -> str:
        """Path of the innermost module running; empty for the model itself."""
        return self._stack[-1] if self._stack else ""

    @property
    def role(self) -> Role:
        """Whether a module of the model is running, or what calls it."""
        return Role.MODEL if self._stack else Role.BOOKKEEPING

    def source(self) -> SourceLine | None:
        """Innermost line of the model's own file, else of its library, that led here."""
        frame: FrameType | None = sys._getframe(2)
        fallback: SourceLine | None = None
        while frame is not None:
            kind, path = self._kind(frame.f_code)
            if kind == _MODEL:
                return SourceLine(path=path, line=frame.f_lineno)
            if kind == _LIBRARY and fallback is None:
                fallback = SourceLine(path=path, line=frame.f_lineno)
            frame = frame.f_back
        return fallback

    def issuer(self) -> str:
        """Path of the innermost file of model or library that led here; empty without one."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            kind, path = self._kind(frame.f_code)
            if kind != _OTHER:
                return path
            frame = frame.f_back
        return ""

    def _kind(self, code: CodeType) -> tuple[int, str]:
        found = self._kinds.get(code)
        if found is None:
            found = self._kinds[code] = self._classify(code.co_filename)
        return found

    def _classify(self, filename: str) -> tuple[int, str]:
        if self._own and filename.startswith(self._own) and "/site-packages/" not in filename:
            return _MODEL, filename.removeprefix(self._own)
        return _classify(filename)


def _classify(filename: str) -> tuple[int, str]:
    path = filename.replace("\\", "/")
    at = max(path.rfind(f"/{package}/") for package in _PACKAGES)
    if at < 0:
        return _OTHER, ""
    relative = path[at + 1 :]
    return (_MODEL if any(part in relative for part in _MODELS) else _LIBRARY), relative
