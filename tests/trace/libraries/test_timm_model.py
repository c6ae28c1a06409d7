"""timm models, where timm is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.configs import LIBRARIES
from tests.support.libraries import component, specs, trace
from tpu_audit.types.errors import NotAuditedError

if TYPE_CHECKING:
    from pathlib import Path

    from op_registry.schema import Snapshot

needs_timm = pytest.mark.skipif(
    find_spec("timm") is None or find_spec("torchvision") is None, reason="needs the extra timm"
)


def _spec(config: dict[str, Any]) -> Any:
    return component(config, library="timm")


@needs_timm
def test_resnet(tmp_path: Path, snapshot: Snapshot) -> None:
    """The architecture is built with the classes and the input size of the config."""
    found = trace(specs(LIBRARIES / "timm", tmp_path)[""], snapshot)
    assert (found.architecture, found.parameters) == ("ResNet", 11_689_512)
    first = next(use for use in found.ops if use.op == "aten.convolution.default")
    assert first.inputs[0].shape == (1, 3, 64, 64)
    assert "image 3x64x64 (pretrained_cfg)" in found.assumptions


@needs_timm
def test_model_arguments(snapshot: Snapshot) -> None:
    """model_args reach the constructor, and num_classes the head; older files are flat."""
    args = {"architecture": "resnet18", "model_args": {"in_chans": 1}, "num_classes": 7}
    found = trace(_spec({**args, "pretrained_cfg": {"input_size": [1, 32, 32]}}), snapshot)
    assert found.ops[0].inputs[0].shape == (1, 1, 32, 32)
    head = next(use for use in found.ops if use.op == "aten.linear.default")
    assert head.outputs[0].shape == (1, 7)
    flat = {"architecture": "resnet18", "library_name": "timm", "input_size": [3, 32, 32]}
    assert trace(_spec({**flat, "num_classes": 5}), snapshot).ops[0].inputs[0].shape[2:] == (32, 32)


@needs_timm
@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"architecture": "no_such_net"}, "unknown_architecture"),
        ({"architecture": "resnet18", "model_args": {"nonsense": 1}}, "build_failed"),
    ],
)
def test_refusals(snapshot: Snapshot, config: dict[str, Any], code: str) -> None:
    """Unknown architectures and arguments are told apart."""
    with pytest.raises(NotAuditedError) as caught:
        trace(_spec(config), snapshot)
    assert caught.value.code == code


@pytest.mark.skipif(find_spec("timm") is not None, reason="timm is installed")
def test_without_timm(tmp_path: Path, snapshot: Snapshot) -> None:
    """Without timm the outcome is a skip that names the extra."""
    with pytest.raises(NotAuditedError, match="needs the extra timm") as caught:
        trace(specs(LIBRARIES / "timm", tmp_path)[""], snapshot)
    assert (caught.value.code, caught.value.skipped) == ("missing_extra", True)
