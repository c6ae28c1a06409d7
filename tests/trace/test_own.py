"""Programs of the user's own are traced as they run: backward and optimizer included."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from op_registry import loader
from tpu_audit.sources.own import parse_factory, resolve_factory
from tpu_audit.trace.isolate import trace_isolated
from tpu_audit.types.errors import NotAuditedError, TargetNotFoundError, UsageError
from tpu_audit.types.trace import Trace, TraceSettings

FILE = Path(__file__).parents[1] / "data" / "own" / "programs.py"


def _trace(name: str, dtype: str = "float32") -> Trace:
    spec = resolve_factory(name, str(FILE), name)
    return trace_isolated(spec, TraceSettings(dtype=dtype), loader.load())[0]


def test_a_module_is_traced_forward_in_the_dtype() -> None:
    """A module with example inputs runs without gradients, in the dtype asked for."""
    trace = _trace("antialiased_resize", "bfloat16")
    assert (trace.settings.phase, trace.architecture, trace.parameters) == (
        "forward",
        "Resize",
        224,
    )
    ops = {use.op: use for use in trace.ops}
    assert {t.dtype for t in ops["aten._upsample_bilinear2d_aa.default"].inputs} == {"bfloat16"}
    assert not any("backward" in op for op in ops)


def test_a_step_is_traced_from_a_process_that_has_trained() -> None:
    """Torch refuses backward in the fork of such a process: the child is a fresh one then."""
    weight = torch.ones(2, requires_grad=True)
    weight.sum().backward()

    ops = {use.op for use in _trace("detection_loss").ops}

    assert any("backward" in op for op in ops)


def test_a_step_is_traced_with_backward_and_optimizer() -> None:
    """A callable runs as it is: loss, backward and optimizer, with the user's own lines."""
    trace = _trace("detection_loss")
    ops = {use.op: use for use in trace.ops}
    assert trace.settings.phase == "step"
    assert trace.parameters == 64 * 64 + 64 + 64 * 4 + 4 + 64 * 10 + 10
    assert "aten.smooth_l1_loss_backward.default" in ops
    line = ops["aten.smooth_l1_loss.default"].sources[0]
    text = FILE.read_text(encoding="utf-8").splitlines()[line.line - 1]
    assert (line.path, "smooth_l1_loss" in text) == ("programs.py", True)
    assert any(op.startswith("aten._foreach") for op in ops)
    assert not any(op.startswith("profiler.") for op in ops)


def test_suppressed_boxes_are_a_guess_and_a_host_read() -> None:
    """How many boxes torchvision's op keeps depends on the scores: guessed, and said so."""
    ops = {use.op: use for use in _trace("suppressed_boxes").ops}
    nms = ops["torchvision.nms.default"]
    assert (nms.guesses, nms.host_read, nms.outputs[0].shape) == (1, True, (50,))


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("broken", "factory_failed", "width"),
        ("nothing", "bad_factory", "int"),
        ("needs_inputs", "no_inputs", "image"),
        ("absent", "no_factory", "antialiased_resize"),
    ],
)
def test_a_program_that_cannot_be_made_says_why(name: str, code: str, said: str) -> None:
    """What the user's function did wrong is told with what to do."""
    with pytest.raises(NotAuditedError) as caught:
        _trace(name)
    assert caught.value.code == code
    assert said in f"{caught.value.message} {caught.value.hint}"


def test_a_program_that_asks_for_a_gpu_is_told_so() -> None:
    """A device that a TPU host lacks is named, as it would be there."""
    with pytest.raises(NotAuditedError, match=r"cuda|CUDA") as caught:
        _trace("cuda_inside")
    assert caught.value.code == "other_device"


def test_texts_that_name_a_factory() -> None:
    """Files and modules with a function are told from hub ids."""
    assert parse_factory(f"{FILE}:broken") == (str(FILE), "broken")
    assert parse_factory("my.models:make") == ("my.models", "make")
    assert parse_factory("org/name@v1") is None
    with pytest.raises(TargetNotFoundError):
        parse_factory("absent.py:make")
    with pytest.raises(UsageError, match="program of your own"):
        parse_factory("org/name:make")
