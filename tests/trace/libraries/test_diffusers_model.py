"""What becomes of components that cannot be built."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.libraries import component, trace
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

HAVE = find_spec("diffusers") is not None


def _refused(snapshot: Snapshot, config: dict[str, Any], **fields: Any) -> NotAuditedError:
    with pytest.raises(NotAuditedError) as caught:
        trace(component(config, **fields), snapshot)
    return caught.value


@pytest.mark.skipif(not HAVE, reason="needs the extra diffusers")
@pytest.mark.parametrize(
    ("config", "fields", "code", "skipped"),
    [
        ({"_class_name": "NoSuchModel"}, {}, "unknown_architecture", False),
        ({"_class_name": "DDIMScheduler"}, {}, "unknown_architecture", False),
        ({"_class_name": 3}, {}, "unknown_architecture", False),
        ({"_class_name": "OwnModel"}, {"home": "transformer_own"}, "remote_code", True),
        ({"_class_name": "OwnModel"}, {"home": "../etc"}, "remote_code", True),
        ({"_class_name": "UNet2DModel", "block_out_channels": 3}, {}, "build_failed", False),
        ({"_class_name": "DiTTransformer2DModel"}, {}, "unknown_inputs", False),
        ({}, {"component": "vae"}, "no_config", False),
    ],
)
def test_refusals(
    snapshot: Snapshot, config: dict[str, Any], fields: dict[str, Any], code: str, skipped: bool
) -> None:
    """Each way to fail has its own code, and a hint."""
    error = _refused(snapshot, config, **fields)
    assert (error.code, error.skipped) == (code, skipped)
    assert error.message


def test_without_the_extra(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without diffusers the outcome is a skip that names the extra and how to install it."""
    from tpu_audit.trace.libraries import extras

    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    error = _refused(snapshot, {"_class_name": "UNet2DModel"})
    assert (error.code, error.skipped, error.stage) == ("missing_extra", True, Stage.BUILD)
    assert error.message == "needs the extra diffusers"
    assert error.hint == 'pip install "tpu-audit[diffusers]"'


def test_a_broken_installation(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package whose import fails is a failure, never a crash."""
    from tpu_audit.trace.libraries import extras

    def broken(name: str) -> None:
        raise RuntimeError(f"operator {name}::x does not exist")

    monkeypatch.setattr(extras, "find_spec", lambda _: object())
    monkeypatch.setattr(extras, "import_module", broken)
    error = _refused(snapshot, {"_class_name": "UNet2DModel"})
    assert (error.code, error.skipped) == ("missing_dependency", False)
    assert "does not exist" in error.message
