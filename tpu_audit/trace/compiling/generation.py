"""Prefill and decode under Dynamo: ``generate()`` with the model's forward compiled."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
import torch._dynamo as dynamo

from tpu_audit.trace import guesses
from tpu_audit.trace.compiling.again import recompiled
from tpu_audit.trace.compiling.session import Session, explained, with_recompiles
from tpu_audit.trace.phases.generation import (
    DECODE,
    PREFILL,
    Enough,
    arguments_of,
    can_generate,
    settle,
)
from tpu_audit.trace.phases.interface import autocasting
from tpu_audit.types.compiled import Change, CompileTrace, Recompile
from tpu_audit.types.errors import NotAuditedError, Stage, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import nn

    from tpu_audit.trace.phases.interface import Subject

_TOKENS = 5
"""Prefill, a step to compile decode, one to see whether the next compiles, one that settles it."""


def run(subject: Subject, session: Session) -> tuple[CompileTrace, ...]:
    """Generate a few tokens; where each compiles anew, see whether a static cache cures it."""
    if not can_generate(subject.model):
        raise NotAuditedError(
            f"{type(subject.model).__name__} has no generate()",
            stage=Stage.BUILD,
            code="no_generation",
            skipped=True,
        )
    steps = _generate(subject, session, subject.settings.kv_cache)
    if DECODE not in steps.traces:
        raise NotAuditedError(
            "generate() ended before it had decoded a second token",
            stage=Stage.TRACE,
            code="generate_ended",
        )
    decode = with_recompiles(steps.traces[DECODE], steps.token)
    if steps.token and steps.token.anew and subject.settings.kv_cache == "dynamic":
        decode = with_recompiles(decode, _with_static_cache(subject, session))
    order = {PREFILL: steps.traces[PREFILL], DECODE: decode}
    return tuple(sorted(order.values(), key=lambda t: t.settings.phase != session.settings.phase))


def _with_static_cache(subject: Subject, session: Session) -> Recompile | None:
    """Generate with a static cache; None where the model does not take one."""
    dynamo.reset()
    other = Session.of(session.settings, session.places)
    other.backend.lower = False
    try:
        with other.recorder:
            found = _generate(subject, other, "static").token
    except NotAuditedError:
        return None
    if found is None:
        return None
    return Recompile(change=Change.TOKEN_STATIC, anew=found.anew, guard=found.guard)


@dataclass(slots=True)
class _Steps:
    """The calls of the model that ``generate()`` makes, one by one."""

    session: Session
    traces: dict[str, CompileTrace] = field(default_factory=dict)
    token: Recompile | None = None
    done: int = 0
    inside: bool = False

    def call(self, forward: Callable[[], Any]) -> Any:
        """Make one; raises Enough once the steady state is known."""
        self.done += 1
        backend = self.session.backend
        if self.done == 1:
            return self._first(PREFILL, forward)
        if self.done == 2:  # noqa: PLR2004 - the second step
            return self._first(DECODE, forward)
        if self.done == 3:  # noqa: PLR2004
            backend.lower, before = False, backend.graphs
            out = explained(forward, DECODE)
            if backend.graphs > before:
                return out
            self.token = Recompile(change=Change.TOKEN, anew=False)
            raise Enough
        anew, guard = explained(partial(recompiled, forward), DECODE)
        self.token = Recompile(change=Change.TOKEN, anew=anew, guard=guard)
        raise Enough

    def _first(self, phase: str, forward: Callable[[], Any]) -> Any:
        out, self.traces[phase] = self.session.first(phase, forward)
        return out


def _generate(subject: Subject, session: Session, kv_cache: str) -> _Steps:
    steps = _Steps(session)
    arguments = arguments_of(subject)
    config = settle(subject, kv_cache, _TOKENS)
    model: Any = subject.model
    in_model = guesses.answering(lambda: steps.inside)
    try:
        casting = autocasting(subject.settings)
        with torch.no_grad(), casting, in_model, _compiled(subject.model, steps):
            model.generate(**arguments, generation_config=config)
    except Enough:
        pass
    except NotAuditedError:
        raise
    except Exception as error:
        raise NotAuditedError(
            f"generate() stopped: {shorten(error)}", stage=Stage.TRACE, code="generate_failed"
        ) from error
    return steps


@contextlib.contextmanager
def _compiled(model: nn.Module, steps: _Steps) -> Iterator[None]:
    """Compile the forward of whichever module ``generate()`` turns out to call."""
    from transformers.generation.utils import GenerationMixin

    generating = [m for m in model.modules() if isinstance(m, GenerationMixin)]

    def wrap(module: Any) -> None:
        forward = module.forward
        compiled = steps.session.compiled(forward)

        @functools.wraps(forward)
        def step(*args: Any, **kwargs: Any) -> Any:
            _unwrap(generating)  # inside of the call the modules are as they were
            steps.inside = True
            try:
                return steps.call(partial(compiled, *args, **kwargs))
            finally:
                steps.inside = False
                _wrap_all()

        module.forward = step

    def _wrap_all() -> None:
        for module in generating:
            wrap(module)

    _wrap_all()
    try:
        yield
    finally:
        _unwrap(generating)


def _unwrap(modules: list[Any]) -> None:
    for module in modules:
        vars(module).pop("forward", None)
