"""The census of architectures, on a few types: what it takes, what it tells, what it demands."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.census.architectures import census_architectures
from tests.census.architectures_report import Run, page, shares, well
from tests.census.auto_classes import AutoClass, auto_classes
from tests.census.class_trace import ClassResult, PhaseResult
from tests.census.default_configs import default_config
from tests.census.mended_configs import MENDS
from tests.census.shrink import shrink

if TYPE_CHECKING:
    from pathlib import Path

HEAD = AutoClass(model_type="a", name="AForCausalLM", kind="causal lm")
BASE = AutoClass(model_type="a", name="AModel", kind="base")
FORWARD = PhaseResult(phase="forward", seconds=0.1)
GENERATION = tuple(replace(FORWARD, phase=name) for name in ("prefill", "decode"))
TRAIN = replace(FORWARD, phase="train", error="lost", stage="trace", code="backward_failed")
RUN = Run(
    results=(
        ClassResult(of=BASE, source="default", phases=(FORWARD,)),
        ClassResult(of=HEAD, source="default", phases=(FORWARD, *GENERATION, TRAIN)),
    ),
    types=1,
    seconds=1,
    cpu_seconds=1,
    workers=2,
    real=False,
)


def test_base_and_main_head() -> None:
    """Every type is there once; the head is what the type is published for."""
    found = dict(auto_classes())
    assert len(found) > 400
    assert [one.name for one in found["bert"]] == ["BertModel", "BertLMHeadModel"]
    assert [one.kind for one in found["vit"]] == ["base", "image classification"]
    assert all(classes for classes in found.values())


def test_shortest_prefix_of_all_kinds() -> None:
    """A list of kinds is cut where each was seen; what names layers by number stays whole."""
    kinds = ["linear", "linear", "linear", "full"] * 4
    content = {"text_config": {"num_hidden_layers": 16, "layer_types": kinds, "hidden_size": 8}}
    assert shrink(content)["text_config"] == {
        "num_hidden_layers": 4,
        "layer_types": kinds[:4],
        "hidden_size": 8,
    }
    assert shrink({"num_layers": 12, "first_k_dense_replace": 3}) == {
        "num_layers": 4,
        "first_k_dense_replace": 3,
    }
    named = {"num_hidden_layers": 12, "out_features": ["stage12"]}
    assert shrink(named) == named


def test_mends_are_of_types_that_need_them() -> None:
    """Every mend belongs to a type of the installed library and changes its default config."""
    known = dict(auto_classes())
    assert set(MENDS) <= set(known)
    for name in ("dbrx", "hunyuan_vl"):
        content = default_config(known[name][0])
        assert content is not None
        assert content["model_type"] == name


def test_shares() -> None:
    """A head that does not train is missed, and listed with stage and cause."""
    found = {share.what: (share.done, share.whole) for share in shares(RUN)}
    assert found == {
        "types with a traced class": (1, 1),
        "classes traced forward": (2, 2),
        "classes with `generate()` traced in prefill": (1, 1),
        "classes with `generate()` traced in decode": (1, 1),
        "head classes trained": (0, 1),
    }
    assert not well(RUN)
    assert "| a | AForCausalLM | train | trace | backward_failed | lost |" in page(RUN)


@pytest.mark.timeout(240)
def test_few_types(tmp_path: Path) -> None:
    """A decoder, an image model and a class that lacks a package, in processes of their own."""
    told: list[str] = []
    only = ("gpt2", "vit", "layoutlmv2")
    census_architectures(None, tmp_path, told.append, only=only)

    rows = json.loads((tmp_path / "architectures.json").read_text("utf-8"))
    phases = {row["class"]: row["phases"] for row in rows}
    assert list(phases["GPT2LMHeadModel"]) == ["forward", "prefill", "decode", "train"]
    assert list(phases["ViTForImageClassification"]) == ["forward", "train"]
    assert all(one["ops"] > 10 for one in phases["GPT2LMHeadModel"].values())
    assert phases["LayoutLMv2Model"]["forward"]["code"] == "missing_dependency"
    assert len(told) == len(rows)
