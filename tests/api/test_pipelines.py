"""Pipelines through the scan: each component on its own, the report of all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.calls import use
from tpu_audit.api import ScanOptions, scan
from tpu_audit.api.outcome import is_incomplete
from tpu_audit.render.formats import renderer
from tpu_audit.render.interface import View
from tpu_audit.trace import isolate
from tpu_audit.types.errors import NotAuditedError, Stage
from tpu_audit.types.report import Status
from tpu_audit.types.trace import Trace

if TYPE_CHECKING:
    from pathlib import Path

    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.report import Report
    from tpu_audit.types.trace import TraceSettings

INDEX = {
    "_class_name": "APipeline",
    "scheduler": ["diffusers", "DDIMScheduler"],
    "enc": ["transformers", "CLIPTextModel"],
    "unet": ["diffusers", "UNet2DModel"],
}


class Tracer:
    """Stands in for the tracer; refuses the classes that it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, str]] = []
        self.missing: set[str] = set()

    def __call__(self, spec: ModelSpec, settings: TraceSettings, *_: object) -> tuple[Trace, ...]:
        """Trace one call of mish, which the registry holds as missing."""
        self.asked.append((spec.component, settings.phase))
        if spec.library in self.missing:
            raise NotAuditedError(
                f"needs the extra {spec.library}",
                stage=Stage.BUILD,
                code="missing_extra",
                skipped=True,
            )
        trace = Trace(
            settings=settings,
            architecture=spec.architecture or "",
            parameters=5,
            ops=(use("aten.mish.default"),),
            applies=("forward", "prefill", "decode", "train"),
        )
        return (trace,)


@pytest.fixture(name="tracer")
def _tracer(monkeypatch: pytest.MonkeyPatch) -> Tracer:
    tracer = Tracer()
    monkeypatch.setattr(isolate, "trace_isolated", tracer)
    return tracer


@pytest.fixture(name="report")
def _report(tmp_path: Path) -> Any:
    def report(**options: Any) -> Report:
        folder = tmp_path / "pipe"
        for name in ("enc", "unet"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "model_index.json").write_text(json.dumps(INDEX))
        (folder / "enc/config.json").write_text('{"model_type": "clip_text_model"}')
        quantised = {"quantization_config": {"quant_method": "gptq"}}
        (folder / "unet/config.json").write_text(json.dumps(quantised))
        made = ScanOptions(cache_dir=tmp_path / "cache", offline=True, **options)
        return scan([str(folder)], options=made)

    return report


def test_components(tracer: Tracer, report: Any) -> None:
    """Phases and findings bear the component's name; the model is the pipeline."""
    made = report()
    (model,) = made.models
    assert (model.architecture, model.library, model.parameters) == ("APipeline", "diffusers", 10)
    assert [(part.name, part.architecture) for part in model.components] == [
        ("enc", "CLIPTextModel"),
        ("unet", "UNet2DModel"),
    ]
    assert [(phase.component, phase.phase) for phase in model.phases] == [
        ("enc", "forward"),
        ("unet", "forward"),
    ]
    found = {(finding.code, finding.component) for finding in made.findings}
    assert {("TPA901", "enc"), ("TPA901", "unet"), ("TPA921", "unet")} <= found
    quantised = next(finding for finding in made.findings if finding.code == "TPA921")
    assert quantised.location.path == "unet/config.json"
    assert tracer.asked == [("enc", "forward"), ("unet", "forward")]


def test_nothing_in_a_pipeline_generates(tracer: Tracer, report: Any) -> None:
    """Training is traced when it is asked for, prefill and decode are not."""
    report(train=True)
    assert {phase for _, phase in tracer.asked} == {"forward", "train"}


def test_a_component_that_is_skipped(tracer: Tracer, report: Any) -> None:
    """One component without its library leaves the pipeline incomplete, and the others audited."""
    tracer.missing.add("diffusers")
    made = report()
    (model,) = made.models
    assert [phase.status for phase in model.phases] == [Status.TRACED, Status.SKIPPED]
    assert model.phases[1].reason_code == "missing_extra"
    assert model.parameters is None
    assert is_incomplete(made)


def test_a_repeat_comes_from_the_cache(tracer: Tracer, report: Any) -> None:
    """Components are cached each by its own key."""
    report()
    again = report()
    assert [phase.cached for phase in again.models[0].phases] == [True, True]
    assert len(tracer.asked) == 2


def test_on_the_console(tracer: Tracer, report: Any) -> None:
    """The console names component, class and size of each, and that a dense model was traced."""
    assert tracer.missing == set()
    text = renderer("console").render(report(), View(width=120))
    assert "unet: forward bfloat16  BLOCKED" in text
    assert "APipeline (diffusers), 10 parameters" in text
    assert "enc: CLIPTextModel (clip_text_model, transformers), 5 parameters" in text
    assert (
        "UNet2DModel (diffusers), 5 parameters; dense: the checkpoint is quantised (gptq)" in text
    )
    assert "x 128 tokens" not in text
