"""sentence-transformers chains: built, traced, and compared with the original's arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.configs import LIBRARIES
from tests.support.libraries import ops, specs, trace
from tpu_audit.types.errors import NotAuditedError

if TYPE_CHECKING:
    from pathlib import Path

    from op_registry.schema import Snapshot


def test_the_whole_chain(tmp_path: Path, snapshot: Snapshot) -> None:
    """Mean pooling, a dense layer and the normalisation follow the transformer."""
    found = trace(specs(LIBRARIES / "sentence", tmp_path)[""], snapshot)
    assert found.architecture == "SentenceModel"
    assert "modules: Transformer -> Pooling -> Dense -> Normalize" in found.assumptions
    assert {"aten.tanh.default", "aten.linalg_vector_norm.default"} <= ops(found)
    assert found.ops[-1].outputs[0].shape == (1, 16)
    modules = {name for use in found.ops for name in use.modules}
    assert {"chain.1", "chain.2.linear", "chain.3"} <= modules
    lines = {source.path for use in found.ops for source in use.sources}
    assert any(path.endswith("libraries/pooling.py") for path in lines)


def test_the_older_layout(tmp_path: Path, snapshot: Snapshot) -> None:
    """Two ways of pooling give an embedding twice as wide."""
    found = trace(specs(LIBRARIES / "sentence-old", tmp_path)[""], snapshot)
    assert found.ops[-1].op == "aten.cat.default"
    assert found.ops[-1].outputs[0].shape == (1, 64)


@pytest.mark.parametrize(
    ("kind", "config", "code", "skipped"),
    [
        ("CLIPModel", {}, "unsupported_module", True),
        ("Dense", {}, "build_failed", False),
        ("Dense", {"in_features": 2, "out_features": 2, "activation_function": "a.No"},
         "build_failed", False),
        ("Pooling", {"pooling_mode": "no"}, "build_failed", False),
    ],
)  # fmt: skip
def test_modules_that_cannot_be_built(
    tmp_path: Path, snapshot: Snapshot, kind: str, config: dict[str, Any], code: str, skipped: bool
) -> None:
    """Unknown kinds of modules are skipped, and broken ones fail, by name."""
    spec = specs(LIBRARIES / "sentence", tmp_path)[""]
    broken = replace(spec, modules=(spec.modules[0], {"type": f"st.{kind}", "config": config}))
    with pytest.raises(NotAuditedError) as caught:
        trace(broken, snapshot)
    assert (caught.value.code, caught.value.skipped) == (code, skipped)


MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("mode", MODES)
def test_pooling_is_the_originals(mode: str, dtype: str) -> None:
    """Each way to pool gives the original's values, with padding on either side."""
    import torch

    from tpu_audit.trace.libraries.pooling import POOLS

    originals = pytest.importorskip("sentence_transformers.models")
    torch.manual_seed(0)
    tokens = torch.randn(3, 5, 8).to(getattr(torch, dtype))
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 0, 1, 1, 1]])
    features = {"token_embeddings": tokens, "attention_mask": mask}
    wanted = originals.Pooling(8, pooling_mode=mode)(dict(features))["sentence_embedding"]
    torch.testing.assert_close(POOLS[mode](tokens, mask), wanted, rtol=0, atol=0)


def test_mean_pooling_by_hand() -> None:
    """Padding does not count, here in numbers that one can add up."""
    import torch

    from tpu_audit.trace.libraries.pooling import POOLS

    tokens = torch.tensor([[[1.0], [2.0], [9.0]]])
    mask = torch.tensor([[1, 1, 0]])
    found = {mode: POOLS[mode](tokens, mask).item() for mode in ("mean", "max", "cls", "lasttoken")}
    assert found == {"mean": 1.5, "max": 2.0, "cls": 1.0, "lasttoken": 2.0}
    assert POOLS["weightedmean"](tokens, mask).item() == pytest.approx(5 / 3)


@pytest.mark.parametrize(
    ("config", "modes"),
    [
        ({"pooling_mode": "mean"}, ("mean",)),
        ({"pooling_mode": ["cls", "max"]}, ("cls", "max")),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, ("cls", "mean")),
        ({"word_embedding_dimension": 3}, ("mean",)),
    ],
)
def test_modes(config: dict[str, Any], modes: tuple[str, ...]) -> None:
    """Both spellings of a pooling config are read."""
    from tpu_audit.trace.libraries.pooling import modes_of

    assert modes_of(config) == modes
