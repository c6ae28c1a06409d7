"""The comparison with the wheel: which models, what counts as a difference, and the totals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.census.auto_classes import AutoClass
from tests.census.families import families, family_of
from tests.census.hub_index import HubIndex, index_hub
from tests.census.wheel import Agreement, page
from tests.census.wheel_differences import differences
from tests.census.wheel_run import Pair

CALLS = {"model aten.linear.default": 4, "bookkeeping aten.isin.Tensor_Tensor": 1}
MODEL = AutoClass(model_type="llama", name="LlamaForCausalLM", kind="causal lm")
EQUAL = Pair(
    of=MODEL,
    source="default",
    pretended={"forward": CALLS, "decode": CALLS},
    real={"forward": CALLS, "decode": CALLS},
    errors={},
)
SURPLUS = replace(EQUAL, real={"forward": {**CALLS, "model aten.linear.default": 5}})
ANOTHER = replace(EQUAL, real={"forward": {**CALLS, "model aten.expand.default": 2}})
LOST = replace(EQUAL, real={}, errors={"torch_tpu forward": "trace: it stopped"})


def run(*pairs: Pair) -> Agreement:
    """Make a run of these models."""
    return Agreement(pairs=pairs, wanted=len(pairs))


def test_a_family_has_one_model() -> None:
    """Types whose names begin alike are one family, and the main head stands for it."""
    found = families(HubIndex(folder=Path()))

    names = [family_of(one.model_type) for one in found]
    assert len(names) == len(set(names)) >= 120
    assert family_of("qwen2") == family_of("qwen3_moe") == "qwen"
    assert next(one for one in found if one.model_type == "bert").head


def test_families_with_a_real_config_come_first(tmp_path: Path) -> None:
    """A config in the folder decides which type stands for a family, and puts it in front."""
    path = tmp_path / "org/model/config.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"]}')

    assert families(index_hub(tmp_path))[0].model_type == "qwen3"


def test_equal_calls_are_no_difference() -> None:
    """Phases that both tracers saw alike differ in nothing."""
    assert differences(EQUAL) == []
    assert run(EQUAL).well


def test_counts_and_sets_are_told_apart() -> None:
    """A surplus call of a known op is a difference of counts, a new op one of sets."""
    (surplus,) = differences(SURPLUS)
    (another,) = differences(ANOTHER)

    assert (surplus.of_sets, another.of_sets) == (False, True)
    assert str(surplus) == "model aten.linear.default 4 / 5"
    assert surplus.reason is None
    shared = run(EQUAL, SURPLUS, ANOTHER, LOST)
    assert shared.share() == (1, 3)
    assert shared.share(sets=True) == (2, 3)
    assert shared.share("decode") == (1, 1)


def test_too_few_models_are_not_well() -> None:
    """A run that lost models does not show what it must, nor one that cannot say why."""
    assert not run(EQUAL, LOST).well
    assert not Agreement(pairs=(*[EQUAL] * 99, SURPLUS), wanted=100).well


def test_the_page_tells_all() -> None:
    """Totals, each difference and each model that was lost are on the page."""
    text = page(run(EQUAL, ANOTHER, LOST), "torch-tpu 0")

    assert "| all phases | 2 | 1 (50.0%) | 1 (50.0%) |" in text
    assert "model aten.expand.default 0 / 2" in text
    assert "torch_tpu forward | trace: it stopped" in text
