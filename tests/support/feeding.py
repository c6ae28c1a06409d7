"""Traces a small model and keeps the inputs that were made for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import Trace, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from op_registry.schema import Snapshot
    from tpu_audit.trace.inputs.interface import InputContext, Inputs


@dataclass(frozen=True, kw_only=True, slots=True)
class Fed:
    """A traced model, and what it was fed."""

    trace: Trace
    kwargs: dict[str, Any]
    """Shapes of floats, lists of integers: fakes outlive no mode."""

    @property
    def said(self) -> str:
        """All assumptions in one text."""
        return "; ".join(self.trace.assumptions)

    def count(self, token: int) -> int:
        """Count a token in the first sequence."""
        first: list[int] = self.kwargs["input_ids"][0]
        return first.count(token)


class Feeder:
    """Traces configs, with the real runner."""

    def __init__(self, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
        self._snapshot = snapshot
        self._monkeypatch = monkeypatch

    def __call__(
        self,
        config: Mapping[str, Any],
        *,
        processors: Mapping[str, Mapping[str, Any]] | None = None,
        **settings: Any,
    ) -> Fed:
        """Trace the class that ``config`` names, at a batch of one and 16 tokens."""
        from tpu_audit.trace import runner
        from tpu_audit.trace.inputs import build_inputs

        kept: dict[str, Any] = {}

        def keep(ctx: InputContext) -> Inputs:
            inputs = build_inputs(ctx)
            kept.update({name: _plain(value) for name, value in inputs.kwargs.items()})
            return inputs

        self._monkeypatch.setattr(runner, "build_inputs", keep)
        spec = ModelSpec(
            target="t",
            id="t",
            revision=None,
            config_source="local",
            config=config,
            processor_configs=processors or {},
        )
        asked = TraceSettings(**{"seq_len": 16, **settings})
        return Fed(trace=runner.run_trace(spec, asked, self._snapshot)[0], kwargs=kept)


def _plain(value: Any) -> Any:
    import torch

    from tpu_audit.trace.shadow import known_value

    if isinstance(value, torch.Tensor):
        known = known_value(value)
        return None if known is None else known.tolist()
    return getattr(value, "shape", value)
